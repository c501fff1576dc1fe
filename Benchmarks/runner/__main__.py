"""Measures Penstock, the bare C loop and their peers in interleaved rounds against a local nginx."""

import argparse
import json
import pathlib
import signal
import subprocess
import sys

import machine
import report
import rounds
import servers
import works

PACKAGE = pathlib.Path(__file__).resolve().parent.parent


def options():
    parser = argparse.ArgumentParser(prog="Benchmarks/run", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="interleaved rounds (default 7)")
    parser.add_argument("--only", action="append", metavar="NAME", help="only this work; may be repeated")
    parser.add_argument("--quick", action="store_true",
                        help="3 rounds and smaller bodies: a smoke test, not a result")
    parser.add_argument("--json", metavar="FILE", help="write all samples and medians to FILE")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a requirement is missed")
    parser.add_argument("--list", action="store_true", help="name the works and exit")
    parser.add_argument("--no-build", action="store_true", help="measure what was built before")
    chosen = parser.parse_args()
    if chosen.rounds < 1:
        parser.error("--rounds must be at least 1")
    if chosen.quick and chosen.rounds == 7:
        chosen.rounds = 3
    return parser, chosen


def build():
    command = ["swift", "build", "-c", "release", "--package-path", str(PACKAGE)]
    subprocess.run(command, check=True, stdout=sys.stderr)
    subprocess.run(command + ["--product", "penstock"], check=True, stdout=sys.stderr)
    shown = subprocess.run(command + ["--show-bin-path"], check=True, capture_output=True, text=True)
    return pathlib.Path(shown.stdout.strip())


def main():
    parser, chosen = options()
    sizes = works.Sizes.quick() if chosen.quick else works.Sizes.full()
    if chosen.list:
        for work in works.all_works(works.Addresses.unknown(), sizes):
            print(f"{work.name:20} {work.title}")
        return 0
    # SIGTERM ends like Ctrl-C: through the clean-up of `Servers`.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    programs = PACKAGE / ".build" / "release" if chosen.no_build else build()
    facts = machine.facts()
    print(machine.sentence(facts) + "\n", flush=True)
    results = []
    with servers.Servers(programs / "holder", sizes) as running:
        selected = works.all_works(running.addresses, sizes)
        if chosen.only:
            unknown = set(chosen.only) - {work.name for work in selected}
            if unknown:
                parser.error(f"no work {', '.join(sorted(unknown))}; --list names them")
            selected = [work for work in selected if work.name in chosen.only]
        for work in selected:
            result = rounds.measure(work, programs, chosen.rounds)
            results.append(result)
            print(report.table(result), flush=True)
    if chosen.json:
        with open(chosen.json, "w") as file:
            json.dump({"machine": facts, "rounds": chosen.rounds, "quick": chosen.quick,
                       "works": [report.as_json(result) for result in results]}, file, indent=1)
    missed = [text for result in results for text in report.missed(result)]
    for text in missed:
        print(f"missed: {text}")
    return 1 if chosen.check and missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except (subprocess.CalledProcessError, servers.ServerError, rounds.MeasurementFailed) as error:
        sys.exit(f"Benchmarks/run: {error}")
