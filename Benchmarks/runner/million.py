#!/usr/bin/python3
"""`penstock batch` over a million inputs from a file: resident memory and descriptors as it goes on.

It takes what `Benchmarks/run` has built.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import servers
import works


def facts(pid):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        resident = next(int(line.split()[1]) for line in file if line.startswith("Rss:"))
    return resident, len(os.listdir(f"/proc/{pid}/fd"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--state", action="store_true", help="with a state file")
    chosen = parser.parse_args()
    package = pathlib.Path(__file__).resolve().parent.parent
    programs = package / ".build" / "release"
    with servers.Servers(programs / "holder", works.Sizes.quick()) as running, tempfile.TemporaryDirectory() as folder:
        urls = os.path.join(folder, "urls")
        with open(urls, "w") as file:
            file.writelines(f"{running.addresses.plain}/none?{number}\n" for number in range(chosen.count))
        command = [str(programs / "penstock"), "batch", "-j", "64", "--per-host", "64", "--progress", "none", urls]
        if chosen.state:
            command += ["--state", os.path.join(folder, "state.db")]
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        done, marks, seen, last = 0, [chosen.count // 10 * tenth for tenth in range(1, 10)], [], b""
        while block := os.read(process.stdout.fileno(), 1 << 20):
            done += block.count(b"\n")
            last = (last + block)[-4096:]
            if marks and done >= marks[0]:
                seen.append((marks.pop(0), *facts(process.pid)))
        status = process.wait()
        seconds = time.monotonic() - begin
    for count, resident, descriptors in seen:
        print(f"{count:>9,} done: {resident / 1024:6.1f} MiB resident, {descriptors} descriptors")
    print(last.decode().splitlines()[-1])
    growth = seen[-1][1] / seen[0][1]
    print(f"{seconds:.1f} s, exit status {status}, memory at nine tenths {growth:.3f} times that at one tenth")
    return 0 if status == 0 and growth <= 1.1 and seen[-1][2] <= seen[0][2] else 1


if __name__ == "__main__":
    sys.exit(main())
