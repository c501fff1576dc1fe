"""Bytes under TLS that no ordinary server would send: tls_server.py CERTIFICATE KEY MODE [NUMBER]

Prints "port N", then a line for everything that the tests wait for.
"""
import socket
import ssl
import struct
import sys

from child import lock, read_exactly, say, serve_forever, wait_until_told

CERTIFICATE, KEY, MODE = sys.argv[1:4]
NUMBER = int(sys.argv[4]) if len(sys.argv) > 4 else 0
count = 0
connections = 0


def read_head(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return None
        data += part
    return data


def wait_for_end(connection):
    try:
        while connection.recv(65536):
            pass
    except OSError:
        pass
    say("closed")


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def http1(connection, raw):
    while read_head(connection) is not None:
        if MODE == "burst":
            body = b"x" * (1 << 20)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n" + body)
        elif MODE == "no-close-notify":
            connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello")
            # The descriptor is closed behind the back of TLS.
            socket.socket(fileno=connection.detach()).close()
            return
        elif MODE == "cut":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
            socket.socket(fileno=connection.detach()).close()
            return
        elif MODE == "reset":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
            reset(connection)
            return
        elif MODE == "endless":
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            chunk = b"4000\r\n" + b"x" * 0x4000 + b"\r\n"
            try:
                while True:
                    connection.sendall(chunk)
            except OSError:
                say("closed")
                return
        elif MODE == "unasked":
            # An answer, and when that was read another one that nobody asked for.
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            wait_until_told()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
            say("unasked")
        else:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    say("closed")


# HTTP/2 frames: type, flags, stream, payload.
DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY = 0, 1, 3, 4, 7
END_STREAM, END_HEADERS, ACK = 1, 4, 1


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def http2(connection):
    global count, connections
    with lock:
        connections += 1
        is_odd = connections % 2 == 1
    read_exactly(connection, 24)
    connection.sendall(frame(SETTINGS, 0, 0))
    while True:
        head = read_exactly(connection, 9)
        length = int.from_bytes(head[:3], "big")
        kind, flags = head[3], head[4]
        stream = int.from_bytes(head[5:], "big") & 0x7FFFFFFF
        read_exactly(connection, length)
        if kind == SETTINGS and not flags & ACK:
            connection.sendall(frame(SETTINGS, ACK, 0))
        elif kind == RST_STREAM:
            say("rst %d" % stream)
        elif kind == HEADERS:
            with lock:
                count += 1
                number = count
            say("stream %d" % stream)
            if MODE == "h2-refuse-odd" and is_odd:
                connection.sendall(frame(RST_STREAM, 0, stream, struct.pack(">I", 7)))
                continue
            answer(connection, stream, number)


def answer(connection, stream, number):
    status = frame(HEADERS, END_HEADERS, stream, b"\x88")
    if MODE == "h2-refuse" and number <= NUMBER:
        connection.sendall(frame(RST_STREAM, 0, stream, struct.pack(">I", 7)))
    elif MODE == "h2-trailers":
        trailers = b"\x00" + bytes([3]) + b"x-t" + bytes([1]) + b"v"
        connection.sendall(
            status + frame(DATA, 0, stream, b"hello") + frame(HEADERS, END_HEADERS | END_STREAM, stream, trailers))
    elif MODE == "h2-reset":
        connection.sendall(
            status + frame(DATA, 0, stream, b"hello") + frame(RST_STREAM, 0, stream, struct.pack(">I", 2)))
    elif MODE == "h2-no-error":
        # A stream that is reset without an error and without an end; the second time with a length.
        length = b"\x0f\x0d\x0210" if number > 1 else b""
        head = frame(HEADERS, END_HEADERS, stream, b"\x88" + length)
        connection.sendall(head + frame(DATA, 0, stream, b"hello"))
        # The head is read first.
        wait_until_told()
        connection.sendall(frame(RST_STREAM, 0, stream, struct.pack(">I", 0)))
    elif MODE == "h2-broken":
        # DATA on stream 0 breaks the session (RFC 9113 6.1).
        connection.sendall(frame(DATA, 0, 0, b"hello"))
    elif MODE == "h2-broken-body":
        connection.sendall(status + frame(DATA, 0, stream, b"hello"))
        wait_until_told()
        connection.sendall(frame(DATA, 0, 0, b"hello"))
    elif MODE in ("h2-dies", "h2-dies-rudely") and number > NUMBER:
        if MODE == "h2-dies-rudely":
            reset(connection)
        raise OSError("gone")
    elif MODE == "h2-closes":
        # Answers, says that it takes no more, and goes.
        connection.sendall(status + frame(DATA, END_STREAM, stream, b"ok"))
        connection.sendall(frame(GOAWAY, 0, 0, struct.pack(">II", stream, 0)))
        wait_for_end(connection)
    elif MODE.startswith("h2-early"):
        # Refuses before the body is read: all in one record, behind which nothing more is read.
        early = frame(HEADERS, END_HEADERS, stream, b"\x08\x03413" + b"\x0f\x0d\x012" * ("unknown" not in MODE))
        early += frame(DATA, END_STREAM, stream, b"no")
        if "reset" in MODE:
            early += frame(RST_STREAM, 0, stream, struct.pack(">I", 0))
        if "goaway" in MODE:
            early += frame(GOAWAY, 0, 0, struct.pack(">II", stream, 0))
        connection.sendall(early)
    elif MODE == "h2-held":
        # The first stream gets more than its reader takes, and is reset when the third is asked for.
        if number == 1:
            connection.sendall(status + frame(DATA, 0, stream, b"x" * 16384) * NUMBER)
        else:
            if number == 3:
                connection.sendall(frame(RST_STREAM, 0, 1, struct.pack(">I", 2)))
            connection.sendall(status + frame(DATA, END_STREAM, stream, b"ok"))
    elif MODE == "h2-silent":
        connection.sendall(status + frame(DATA, 0, stream, b"hello"))
    elif MODE == "h2-goaway":
        connection.sendall(frame(GOAWAY, 0, 0, struct.pack(">II", 0, 0)))
        raise OSError("gone away")
    else:
        connection.sendall(status + frame(DATA, END_STREAM, stream, b"ok"))


def serve(raw, context):
    try:
        connection = context.wrap_socket(raw, server_side=True)
    except OSError as error:
        say("handshake-failed %s" % error)
        return
    say("accepted resumed=%s" % connection.session_reused)
    try:
        if MODE.startswith("h2"):
            http2(connection)
        else:
            http1(connection, raw)
    except OSError:
        say("closed")
    connection.close()


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)
    context.set_alpn_protocols(["h2"] if MODE.startswith("h2") else ["http/1.1"])
    serve_forever(serve, context)


main()
