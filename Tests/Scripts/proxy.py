"""A small proxy: proxy.py MODE [OPTION=VALUE ...]

MODE is http (CONNECT and absolute targets) or socks (4, 4a and 5 by what the client says). Options: status=N (what
CONNECT is answered with), user=U:P, auth=basic|digest, cert=FILE and key=FILE (TLS to the proxy), close=1 (hang up
instead of answering), map=HOST:PORT (where every tunnel goes). Prints "port N", then a line for each thing it saw.
"""
import base64
import hashlib
import re
import socket
import ssl
import struct
import sys
import threading

from child import read_exactly, say, serve_forever

MODE = sys.argv[1]
OPTIONS = dict(argument.split("=", 1) for argument in sys.argv[2:])


def read_head(connection):
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        part = connection.recv(1)
        if not part:
            return None
        data += part
    lines = data.decode("latin-1").split("\r\n")
    fields = [line.split(":", 1) for line in lines[1:] if ":" in line]
    return lines[0], [(name.lower(), value.strip()) for name, value in fields]


def pump(source, target):
    try:
        while True:
            data = source.recv(65536)
            if not data:
                break
            target.sendall(data)
    except OSError:
        pass
    for side in (source, target):
        try:
            side.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def join(connection, address):
    if "map" in OPTIONS:
        host, port = OPTIONS["map"].rsplit(":", 1)
        address = (host, int(port))
    server = socket.create_connection(address)
    return server


def tunnel(connection, server):
    back = threading.Thread(target=pump, args=(server, connection), daemon=True)
    back.start()
    pump(connection, server)
    back.join()
    server.close()


def is_allowed(method, target, fields):
    if "user" not in OPTIONS:
        return True
    given = dict(fields).get("proxy-authorization", "")
    say("auth " + (given.split(" ")[0].lower() or "none"))
    if OPTIONS.get("auth", "basic") == "basic":
        return given == "Basic " + base64.b64encode(OPTIONS["user"].encode()).decode()
    if not given.lower().startswith("digest "):
        return False
    parts = {name: quoted or plain for name, quoted, plain in re.findall(r'(\w+)=(?:"([^"]*)"|([^, ]*))', given)}
    user, password = OPTIONS["user"].split(":", 1)

    def md5(text):
        return hashlib.md5(text.encode()).hexdigest()

    first = md5("%s:%s:%s" % (user, "penstock", password))
    second = md5("%s:%s" % (method, parts.get("uri", "")))
    expected = md5(":".join([first, "n0nce", parts.get("nc", ""), parts.get("cnonce", ""), "auth", second]))
    return parts.get("response") == expected


def challenge():
    if OPTIONS.get("auth", "basic") == "digest":
        return 'Digest realm="penstock", nonce="n0nce", qop="auth"'
    return 'Basic realm="penstock"'


def refuse(connection, status, extra=""):
    connection.sendall(
        ("HTTP/1.1 %s Refused\r\nContent-Length: 6\r\n%s\r\nsorry\n" % (status, extra)).encode())


def http(connection):
    while True:
        head = read_head(connection)
        if head is None:
            return
        line, fields = head
        method, target, _ = line.split(" ", 2)
        say("request %s %s" % (method, target))
        for name, value in fields:
            if name.startswith("x-") or name == "proxy-connection":
                say("field %s %s" % (name, value))
        length = int(dict(fields).get("content-length", "0"))
        if length:
            read_exactly(connection, length)
        say("body %d" % length)
        if OPTIONS.get("close"):
            return
        if not is_allowed(method, target, fields):
            refuse(connection, 407, "Proxy-Authenticate: %s\r\n" % challenge())
            continue
        if method == "CONNECT":
            if "status" in OPTIONS:
                refuse(connection, OPTIONS["status"])
                return
            host, port = target.rsplit(":", 1)
            server = join(connection, (host.strip("[]"), int(port)))
            connection.sendall(b"HTTP/1.1 200 Connection established\r\nX-Proxy: 1\r\n\r\n")
            tunnel(connection, server)
            return
        body = ("via proxy %s\n" % target).encode()
        connection.sendall(b"HTTP/1.1 200 OK\r\nX-Proxied: 1\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


def until_zero(connection):
    text = b""
    while True:
        byte = read_exactly(connection, 1)
        if byte == b"\0":
            return text.decode()
        text += byte


def socks(connection):
    version = read_exactly(connection, 1)[0]
    if version == 4:
        _, port = struct.unpack(">BH", read_exactly(connection, 3))
        address = read_exactly(connection, 4)
        until_zero(connection)
        host = socket.inet_ntoa(address)
        if address[:3] == b"\0\0\0":
            host = until_zero(connection)
            say("socks4a %s:%d" % (host, port))
        else:
            say("socks4 %s:%d" % (host, port))
        if "status" in OPTIONS:
            connection.sendall(b"\0\x5b" + b"\0" * 6)
            return
        server = join(connection, (host, port))
        connection.sendall(b"\0\x5a" + b"\0" * 6)
    else:
        methods = read_exactly(connection, read_exactly(connection, 1)[0])
        if "user" in OPTIONS and 2 in methods:
            connection.sendall(b"\x05\x02")
            read_exactly(connection, 1)
            user = read_exactly(connection, read_exactly(connection, 1)[0]).decode()
            password = read_exactly(connection, read_exactly(connection, 1)[0]).decode()
            good = OPTIONS["user"] == "%s:%s" % (user, password)
            say("auth socks")
            connection.sendall(b"\x01" + (b"\0" if good else b"\1"))
            if not good:
                return
        else:
            connection.sendall(b"\x05\x00")
        _, _, _, kind = read_exactly(connection, 4)
        if kind == 1:
            host = socket.inet_ntoa(read_exactly(connection, 4))
        elif kind == 3:
            host = read_exactly(connection, read_exactly(connection, 1)[0]).decode()
        else:
            host = socket.inet_ntop(socket.AF_INET6, read_exactly(connection, 16))
        port = struct.unpack(">H", read_exactly(connection, 2))[0]
        say("socks5%s %s:%d" % ("h" if kind == 3 else "", host, port))
        if "status" in OPTIONS:
            connection.sendall(b"\x05\x02\x00\x01" + b"\0" * 6)
            return
        server = join(connection, (host, port))
        connection.sendall(b"\x05\x00\x00\x01" + b"\0" * 6)
    tunnel(connection, server)


def serve(connection, context):
    try:
        if context:
            connection = context.wrap_socket(connection, server_side=True)
        if MODE == "http":
            http(connection)
        else:
            socks(connection)
    except OSError as error:
        say("ended %s" % type(error).__name__)
    connection.close()


def main():
    context = None
    if "cert" in OPTIONS:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(OPTIONS["cert"], OPTIONS["key"])
    serve_forever(serve, context)


main()
