"""Serves one file of zeros with ranges, each connection at an even pace: nginx's limit_rate begins with a burst."""

import asyncio
import re
import sys

PIECE = 64 * 1024


def answer(request, size):
    """The head and how many bytes of body follow."""
    first, last = 0, size - 1
    asked = re.search(rb"^range: bytes=(\d+)-(\d*)\r$", request, re.I | re.M)
    if asked:
        first = int(asked[1])
        last = min(int(asked[2] or last), last)
    count = last - first + 1
    head = "HTTP/1.1 206 Partial Content" if asked else "HTTP/1.1 200 OK"
    head += f'\r\nContent-Length: {count}\r\nAccept-Ranges: bytes\r\nETag: "one"\r\n'
    if asked:
        head += f"Content-Range: bytes {first}-{last}/{size}\r\n"
    return head.encode() + b"\r\n", count


async def serve(reader, writer, size, rate):
    loop = asyncio.get_running_loop()
    piece = bytes(PIECE)
    try:
        due = loop.time()
        while True:
            head, count = answer(await reader.readuntil(b"\r\n\r\n"), size)
            writer.write(head)
            # The pace is the connection's: a new request on it doesn't begin with a credit.
            due = max(due, loop.time())
            while count > 0:
                part = min(count, PIECE)
                writer.write(piece if part == PIECE else piece[:part])
                await writer.drain()
                count -= part
                due += part / rate
                await asyncio.sleep(max(0, due - loop.time()))
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main(size, rate):
    server = await asyncio.start_server(lambda r, w: serve(r, w, size, rate), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main(int(sys.argv[1]), float(sys.argv[2])))
    except KeyboardInterrupt:
        pass
