#!/usr/bin/env python3
"""Kills a download at random instants, without a chance to clean up, and looks at what is left: under the final
name there may be nothing, the whole old file or the whole new one, and the next run must succeed.

    Tests/kill-download.py [options] COMMAND...     {url} and {file} in COMMAND are filled in

      --rounds N    how many runs are killed before their end (default 50), every other one near it, where the
                    file gets its name
      --size MIB    how large the file is (default 32)
      --continue    each killed download is continued by the next run, which must bring the very same bytes

For example: Tests/kill-download.py .build/debug/penstock download {url} -o {file} --overwrite replace
             Tests/kill-download.py --rounds 200 --size 256 --continue \\
               .build/release/penstock download {url} -o {file} --segments 8
"""

import argparse
import functools
import http.server
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import time


class Contents:
    """Each version differs from every other one, and at each place from every other place."""

    def __init__(self, size):
        self.base = os.urandom(size)

    @functools.lru_cache(maxsize=3)
    def __getitem__(self, version):
        cut = version * 104729 % len(self.base)
        return self.base[cut:] + self.base[:cut]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        version = int(self.path.strip("/"))
        body = memoryview(self.server.contents[version])
        size = len(body)
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        tag = f'"{version}"'
        if asked and self.headers.get("If-Range", tag) == tag and int(asked[1]) < size:
            first, last = int(asked[1]), min(int(asked[2] or size - 1), size - 1)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
            body = body[first:last + 1]
        elif asked:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{size}")
            body = body[:0]
        else:
            self.send_response(200)
        self.send_header("ETag", tag)
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
    request_queue_size = 128

    def __init__(self, contents):
        super().__init__(("127.0.0.1", 0), Handler)
        self.contents = contents

    def handle_error(self, *_):
        pass


class Rounds:
    def __init__(self, chosen, folder):
        self.chosen = chosen
        self.folder = folder
        self.file = pathlib.Path(folder) / "file"
        self.contents = Contents(chosen.size << 20)
        self.server = Server(self.contents)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.killed = self.arrived = self.left = 0

    def start(self, version):
        url = f"http://127.0.0.1:{self.server.server_port}/{version}"
        command = [part.replace("{url}", url).replace("{file}", str(self.file)) for part in self.chosen.command]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def finish(self, version, what):
        run = self.start(version)
        _, said = run.communicate()
        if run.returncode != 0:
            sys.exit(f"{what} fails: {said.decode()}")
        if self.file.read_bytes() != self.contents[version]:
            sys.exit(f"{what} brings other bytes")
        if (found := sorted(os.listdir(self.folder))) != ["file"]:
            sys.exit(f"{what} leaves {found}")

    def usual_time(self):
        times = []
        for _ in range(5):
            self.file.unlink(missing_ok=True)
            begin = time.monotonic()
            self.finish(0, "an unkilled run")
            times.append(time.monotonic() - begin)
        return sorted(times)[2]

    def kill(self, version):
        """Starts a run and kills it; says whether the file of this version has its name."""
        run = self.start(version)
        # Every other one near the end, where the file gets its name.
        time.sleep(random.uniform(0 if version % 4 < 2 else 0.8 * self.whole, 1.2 * self.whole))
        run.kill()
        run.communicate()
        if run.returncode != 0:
            self.killed += 1
        else:
            # The machine has become faster.
            self.whole *= 0.9
        found = self.file.read_bytes() if self.file.exists() else None
        if found == self.contents[version]:
            self.arrived += 1
            return True
        if found != (None if self.held is None else self.contents[self.held]):
            size = None if found is None else len(found)
            sys.exit(f"round {version}: {size} bytes under the final name are no whole file")
        return False

    def run(self):
        self.whole = self.usual_time()
        self.held = None
        version = 0
        while self.killed < self.chosen.rounds:
            version += 1
            if version % 2 or self.chosen.continues:
                self.file.unlink(missing_ok=True)
                self.held = None
            if self.kill(version):
                self.held = version
            elif self.chosen.continues:
                self.left += os.path.exists(f"{self.file}.part.json")
                self.finish(version, f"round {version}: the run after the kill")
        if not self.chosen.continues:
            self.finish(version + 1, "the run after the last kill")
        self.rounds = version


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--size", type=int, default=32, metavar="MIB")
    parser.add_argument("--continue", action="store_true", dest="continues")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    chosen = parser.parse_args()
    if not chosen.command:
        parser.error("no command")
    with tempfile.TemporaryDirectory() as folder:
        rounds = Rounds(chosen, folder)
        rounds.run()
    said = f"{rounds.rounds} rounds, {rounds.killed} killed before their end, {rounds.arrived} files arrived"
    if chosen.continues:
        said += f", {rounds.left} continued from a record"
    print(said + ": every final file was whole")


if __name__ == "__main__":
    main()
