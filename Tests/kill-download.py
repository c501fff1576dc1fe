#!/usr/bin/env python3
"""Kills a download at random instants, without a chance to clean up, and looks at what is left: under the final
name there may be nothing, the whole old file or the whole new one, and the next run must succeed.

    Tests/kill-download.py [--rounds N] COMMAND...     {url} and {file} in COMMAND are filled in

For example: Tests/kill-download.py .build/debug/penstock download {url} -o {file} --overwrite replace
"""

import argparse
import functools
import hashlib
import http.server
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

SIZE = 32 << 20


@functools.lru_cache(maxsize=4)
def content(version):
    """Each version differs from every other one in each block."""
    block = hashlib.sha256(str(version).encode()).digest() * 2048
    return block * (SIZE // len(block))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = content(int(self.path.strip("/")))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    chosen = parser.parse_args()
    if not chosen.command:
        parser.error("no command")
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "file"

        def start(version):
            url = f"http://127.0.0.1:{server.server_port}/{version}"
            command = [part.replace("{url}", url).replace("{file}", str(file)) for part in chosen.command]
            return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

        times = []
        for _ in range(5):
            file.unlink(missing_ok=True)
            begin = time.monotonic()
            run = start(0)
            if run.wait() != 0:
                sys.exit(f"the command fails unkilled: {run.stderr.read().decode()}")
            times.append(time.monotonic() - begin)
        whole = sorted(times)[2]
        held = 0
        killed = arrived = 0
        for version in range(1, chosen.rounds + 1):
            if version % 2:
                file.unlink(missing_ok=True)
                held = None
            run = start(version)
            # Every other one near the end, where the file gets its name.
            time.sleep(random.uniform(0 if version % 4 < 2 else 0.8 * whole, 1.2 * whole))
            run.kill()
            killed += run.wait() != 0
            found = file.read_bytes() if file.exists() else None
            if found == content(version):
                held = version
                arrived += 1
            elif found != (None if held is None else content(held)):
                size = None if found is None else len(found)
                sys.exit(f"round {version}: {size} bytes under the final name are no whole file")
        run = start(chosen.rounds + 1)
        if run.wait() != 0 or file.read_bytes() != content(chosen.rounds + 1):
            sys.exit(f"the run after the last kill fails: {run.stderr.read().decode()}")
        left = sorted(os.listdir(folder))
        if left != ["file"]:
            sys.exit(f"the last run leaves {left}")
    print(f"{chosen.rounds} rounds, {killed} killed before their end, {arrived} files arrived: every final file was whole")


if __name__ == "__main__":
    main()
