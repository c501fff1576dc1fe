"""What the scripted servers share: they tell the test what they see, and end with it."""
import os
import socket
import sys
import threading

lock = threading.Lock()
told = threading.Semaphore(0)


def say(text):
    with lock:
        print(text, flush=True)


def read_exactly(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise OSError("closed")
        data += part
    return data


def wait_until_told():
    """Returns when the test says `goOn`, once for each time."""
    told.acquire()


def end_with_parent():
    """The tests hold our input open; when they have gone, so have we. Each line of it is a `goOn`."""
    def wait():
        for _ in iter(sys.stdin.buffer.readline, b""):
            told.release()
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def serve_forever(serve, context):
    """Says "port N" of a free loopback port, then gives each connection a thread."""
    end_with_parent()
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    say("port %d" % listener.getsockname()[1])
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(connection, context), daemon=True).start()
