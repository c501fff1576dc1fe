"""Interleaved rounds: each round runs every contender once, starting with another one each time."""

import json
import statistics
import subprocess
import sys
from dataclasses import dataclass, field

# Ends a run that hangs; the longest honest one takes well under a minute.
RUN_LIMIT_SECONDS = 180

SAMPLES = {
    "gigabytes_per_second": lambda line: line["bytes"] / line["seconds"] / 1e9,
    "requests_per_second": lambda line: line["requests"] / line["seconds"],
    "microseconds_each": lambda line: line["seconds"] / line["requests"] * 1e6,
    "kib_per_stream": lambda line: line["kib_per_stream"],
    "mib_above_idle": lambda line: line["kib_above_idle"] / 1024,
    "core_percent": lambda line: line["cpu_seconds"] / line["seconds"] * 100,
}


class MeasurementFailed(Exception):
    pass


@dataclass
class Series:
    """What one contender did in all rounds."""
    contender: object
    lines: list = field(default_factory=list)
    values: list = field(default_factory=list)

    @property
    def value(self):
        return statistics.median(self.values)

    @property
    def cpu_each(self):
        """CPU seconds a unit of work: a byte where bytes matter, else a request."""
        unit = "bytes" if self.is_per_byte else "requests"
        return statistics.median(line["cpu_seconds"] / line[unit] for line in self.lines)

    @property
    def is_per_byte(self):
        return self.lines[0]["mode"] in ("large", "values", "download", "upload")

    @property
    def switches(self):
        """Context switches of a run, of the process's own will and not."""
        return statistics.median(
            line["voluntary_switches"] + line["involuntary_switches"] for line in self.lines)

    @property
    def peak_mib(self):
        return statistics.median(line["peak_rss_kib"] for line in self.lines) / 1024


@dataclass
class Result:
    work: object
    series: list
    absent: list

    @property
    def limit(self):
        candidates = [series for series in self.series if series.contender.is_limit]
        best = max if self.work.more_is_better else min
        return best(candidates, key=lambda series: series.value)

    def ratio(self, series, against=None):
        other = next((each for each in self.series if each.contender.label == against), self.limit)
        return series.value / other.value if other.value else float("nan")

    def cpu_added(self, series, against=None):
        """CPU seconds a unit of work more than another takes, each round for itself: so a slow minute hits both."""
        other = next((each for each in self.series if each.contender.label == against), self.limit)
        unit = "bytes" if series.is_per_byte else "requests"
        return statistics.median(mine["cpu_seconds"] / mine[unit] - its["cpu_seconds"] / its[unit]
                                 for mine, its in zip(series.lines, other.lines))

    def cpu_ratio(self, series):
        return series.cpu_each / self.limit.cpu_each if self.limit.cpu_each else float("nan")


def run_once(contender, programs):
    command = [str(programs / contender.program), *contender.arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        raise MeasurementFailed(f"no end after {RUN_LIMIT_SECONDS} s: {' '.join(command)}") from None
    if done.returncode != 0:
        said = done.stdout + done.stderr
        raise MeasurementFailed(f"exit code {done.returncode}: {' '.join(command)}\n{said}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure(work, programs, rounds):
    present = [c for c in work.contenders if (programs / c.program).exists()]
    absent = sorted({c.program for c in work.contenders} - {c.program for c in present})
    series = [Series(contender) for contender in present]
    for turn in range(rounds):
        for place in range(len(series)):
            each = series[(turn + place) % len(series)]
            progress(f"{work.name}: round {turn + 1} of {rounds}, {each.contender.label}")
            line = run_once(each.contender, programs)
            each.lines.append(line)
            each.values.append(SAMPLES[work.sample](line))
    progress("")
    return Result(work, series, absent)


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
