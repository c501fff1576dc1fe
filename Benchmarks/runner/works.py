"""What is measured: each work, who takes part in it, and what Penstock must reach there."""

import os
import pathlib
from dataclasses import dataclass, field

KIB = 1024
MIB = 1024 * KIB

C, PENSTOCK, URLSESSION = "bare-loop", "penstock-bench", "urlsession-bench"
COMMAND = "command-run"
RUNNER = pathlib.Path(__file__).resolve().parent
AIOHTTP = str(RUNNER / "aiohttp_fetch.py")
PENSTOCK_COMMAND = str(RUNNER.parent / ".build" / "release" / "penstock")


@dataclass(frozen=True)
class Sizes:
    large: int
    many: int  # GETs of 10 KiB
    batch: int  # the same, as a batch
    upload: int
    count: int  # how often the large plain body is fetched in a run
    requests: int
    sequential: int
    urlsession_share: int  # URLSession is slower by far; it gets this fraction of the requests
    limited: int  # the file of the server that limits each connection

    @staticmethod
    def full():
        return Sizes(large=1024 * MIB, many=10_000, batch=100_000, upload=1024 * MIB, count=3, requests=60_000, sequential=20_000, urlsession_share=5,
                     limited=160 * MIB)

    @staticmethod
    def quick():
        return Sizes(large=256 * MIB, many=3_000, batch=20_000, upload=256 * MIB, count=1, requests=6_000, sequential=3_000, urlsession_share=3,
                     limited=80 * MIB)


@dataclass(frozen=True)
class Addresses:
    plain: str
    tls1: str
    tls2: str
    holder: str
    limited: str
    cacert: str
    memory_file: str
    disk_file: str
    urls: str  # a file with URLs of 10 KiB, one a line
    aria2: str  # some of them as aria2c reads them, and where it may put what it gets

    @staticmethod
    def unknown():
        return Addresses("", "", "", "", "", "", "", "", "", "")


@dataclass(frozen=True)
class Contender:
    label: str
    program: str
    arguments: tuple
    is_limit: bool = False  # the bare C loop; among several the best one is the limit


@dataclass(frozen=True)
class Requirement:
    """`figure` of the contender `label` is at least or at most `bound`."""
    label: str
    figure: str  # value, ratio (in the work's unit), cpu_ratio or cpu_added (µs a unit of work)
    at_least: float | None = None
    at_most: float | None = None
    against: str | None = None  # the label that a ratio or what is added is to; None: the limit


@dataclass(frozen=True)
class Work:
    name: str
    title: str
    unit: str
    sample: str  # how a sample of the unit comes from a program's line: see rounds.SAMPLES
    more_is_better: bool
    contenders: list
    requirements: list = field(default_factory=list)


def large(name, title, base, count, extra, at_least):
    def contender(label, program, *more, **facts):
        arguments = ("large", base + "/large", "--count", str(count), *more, *extra)
        return Contender(label, program, arguments, **facts)

    contenders = [contender(f"C, {kib} KiB", C, "--buffer", str(kib * KIB), is_limit=True)
                  for kib in (16, 64, 256, 512)]
    contenders.append(contender("Penstock", PENSTOCK))
    contenders.append(contender("URLSession", URLSESSION))
    return Work(name, title, "GB/s", "gigabytes_per_second", True, contenders,
                [Requirement("Penstock", "ratio", at_least=at_least),
                 Requirement("Penstock", "cpu_ratio", at_most=1.6)])


def small(at, sizes):
    def arguments(requests):
        return ("small", at.plain + "/1k", "--requests", str(requests), "--parallel", "64")

    return Work(
        "small", "64 parallel GETs of 1 KiB", "requests/s", "requests_per_second", True,
        [Contender("C", C, arguments(sizes.requests), is_limit=True),
         Contender("Penstock, on the loop", PENSTOCK, (*arguments(sizes.requests), "--on-loop")),
         Contender("Penstock, hopping", PENSTOCK, arguments(sizes.requests)),
         Contender("URLSession", URLSESSION, arguments(sizes.requests // sizes.urlsession_share))],
        [Requirement("Penstock, on the loop", "ratio", at_least=0.82),
         Requirement("Penstock, hopping", "ratio", at_least=0.70)])


def many(at, sizes):
    url = at.plain + "/10k"
    arguments = ("small", url, "--requests", str(sizes.many), "--parallel", "64")
    curl = ("many", f"{sizes.many}x{10 * KIB}", "curl", "-sS", "-Z", "--parallel-max", "64", "-o", "/dev/null",
            f"{url}?[1-{sizes.many}]")
    return Work(
        "many", f"{sizes.many:,} GETs of 10 KiB, 64 at once", "requests/s", "requests_per_second", True,
        [Contender("C", C, arguments, is_limit=True),
         Contender("Penstock, on the loop", PENSTOCK, (*arguments, "--on-loop")),
         Contender("Penstock, hopping", PENSTOCK, arguments),
         Contender("Penstock, streamed", PENSTOCK, (*arguments, "--streamed")),
         Contender("curl -Z", COMMAND, curl),
         Contender("aiohttp", AIOHTTP, arguments)],
        [Requirement("Penstock, hopping", "ratio", at_least=1.2, against="curl -Z")])


def batch(at, sizes):
    """A hundred thousand URLs: the library's batch, and the command with a result line and a digest for each."""
    def arguments(requests):
        return ("small", at.plain + "/10k", "--requests", str(requests), "--parallel", "64")

    def command(requests, *words):
        return ("batch", f"{requests}x{10 * KIB}", *words)

    ours = f"exec {PENSTOCK_COMMAND} batch -j 64 --per-host 64 --progress none {at.urls} > /dev/null"
    curl = ("curl", "-sS", "-Z", "--parallel-max", "64", "-o", "/dev/null", f"{at.plain}/10k?[1-{sizes.batch}]")
    aria2 = ("aria2c", "-q", "-j", "64", "-i", at.aria2, "--allow-overwrite=true", "--file-allocation=none",
             "-d", at.aria2 + ".files")
    return Work(
        "batch", f"{sizes.batch:,} GETs of 10 KiB as a batch, 64 at once", "requests/s", "requests_per_second", True,
        [Contender("C", C, arguments(sizes.batch), is_limit=True),
         Contender("client.batch", PENSTOCK, ("batch", *arguments(sizes.batch)[1:])),
         Contender("client.batch, a loop a core", PENSTOCK, ("batch", *arguments(sizes.batch)[1:], "--loops", str(min(4, os.cpu_count() or 1)))),
         Contender("penstock batch", COMMAND, command(sizes.batch, "sh", "-c", ours)),
         Contender("curl -Z", COMMAND, command(sizes.batch, *curl)),
         Contender("aiohttp", AIOHTTP, arguments(sizes.batch // 5)),
         Contender("aria2c -i", COMMAND, command(sizes.batch // 20, *aria2))],
        [Requirement("client.batch, a loop a core", "ratio", at_least=0.70),
         Requirement("penstock batch", "ratio", at_least=1.0, against="curl -Z"),
         Requirement("penstock batch", "ratio", at_least=2.0, against="aiohttp"),
         Requirement("penstock batch", "ratio", at_least=15.0, against="aria2c -i")])


def hosts(at, sizes):
    """One of a hundred hosts takes two seconds for a reply: the others mustn't wait for it."""
    arguments = ("hosts", at.plain + "/1k", "--requests", str(sizes.requests), "--parallel", "64")
    return Work(
        "hosts", "a batch over 99 hosts", "requests/s", "requests_per_second", True,
        [Contender("alone", PENSTOCK, arguments, is_limit=True),
         Contender("beside a slow one", PENSTOCK, (*arguments, "--slow", at.holder + "/slow"))],
        [Requirement("beside a slow one", "ratio", at_least=0.95)])


def events(name, unit, sample, at, at_most):
    """Ten thousand open event streams in one loop, an event a second each; one that goes missing ends the run."""
    arguments = ("events", at.holder + "/ticks", "--streams", "10000", "--hold", "10")
    return Work(name, "10,000 event streams with an event a second", unit, sample, False,
                [Contender("client.merge", PENSTOCK, arguments, is_limit=True)],
                [Requirement("client.merge", "value", at_most=at_most)])


def parallel(at, sizes, count):
    arguments = ("small", at.plain + "/1k", "--requests", str(max(sizes.requests // 2, 4 * count)),
                 "--parallel", str(count))
    return Work(
        f"parallel-{count}", f"{count:,} parallel GETs of 1 KiB", "requests/s", "requests_per_second", True,
        [Contender("C", C, arguments, is_limit=True),
         Contender("Penstock, on the loop", PENSTOCK, (*arguments, "--on-loop")),
         Contender("Penstock, hopping", PENSTOCK, arguments)])


def collected(at, sizes):
    """Bodies of 16 MiB, as a stream and as one array."""
    arguments = ("large", at.plain + "/medium", "--count", str(max(1, sizes.large // (16 * MIB))))
    return Work(
        "collected", "bodies of 16 MiB", "GB/s", "gigabytes_per_second", True,
        [Contender("C", C, arguments, is_limit=True), Contender("Penstock, streamed", PENSTOCK, arguments),
         Contender("Penstock, collected", PENSTOCK, (*arguments, "--collected"))])


def upload(name, title, url, sizes, extra=()):
    arguments = ("upload", url, "--bytes", str(sizes.upload), *extra)
    return Work(
        name, title, "GB/s", "gigabytes_per_second", True,
        [Contender("C", C, arguments, is_limit=True), Contender("Penstock", PENSTOCK, arguments)])


def rows(at, sizes):
    """One body of rows of 200 bytes: how fast it is read as what."""
    def contender(label, kind, **facts):
        return Contender(label, PENSTOCK, ("values", at.plain + "/rows", "--as", kind, "--bytes", str(sizes.large)), **facts)

    return Work(
        "rows", "a large body as rows of 200 bytes, plain HTTP/1.1", "GB/s", "gigabytes_per_second", True,
        [contender("chunks", "drain", is_limit=True), contender("lines of bytes", "byte-lines"),
         contender("lines of text", "lines"), contender("decoded values", "json-lines")],
        [Requirement("lines of bytes", "value", at_least=1.0)])


def values_memory(at, sizes):
    """The same rows, and as an array of one document, read to their end: what is held meanwhile."""
    def contender(label, file, kind, *more, **facts):
        arguments = ("values", f"{at.plain}/{file}", "--as", kind, "--bytes", str(sizes.large), *more)
        return Contender(label, PENSTOCK, arguments, **facts)

    return Work(
        "values-memory", "what it needs to read a large body as values", "MiB above idle", "mib_above_idle", False,
        [contender("chunks", "rows", "drain", is_limit=True),
         contender("elements of a JSON array", "elements", "elements"),
         contender("values of NDJSON", "rows", "json-lines"),
         contender("gunzip, NDJSON, batch POST", "rows.gz", "pipeline", "--to", at.holder + "/sink")],
        [Requirement("elements of a JSON array", "value", at_most=4),
         Requirement("values of NDJSON", "value", at_most=4)])


# A retry policy, a rate limit, a concurrency limit and a circuit breaker, none of which ever acts, and a bearer token.
GUARDED = ("--bearer", "--guarded")


def calls(at, sizes):
    """Small JSON calls one after another: what the typed client and the guards add."""
    def contender(label, *more, **facts):
        arguments = ("sequential", at.plain + "/json", "--requests", str(sizes.sequential), *more)
        return Contender(label, PENSTOCK, arguments, **facts)

    return Work(
        "calls", "GETs of a small JSON, one after another", "µs each", "microseconds_each", False,
        [contender("collected", "--collected", is_limit=True), contender("typed", "--typed"),
         contender("its field by hand", "--collected", "--field"), contender("guarded", "--collected", *GUARDED)],
        [Requirement("typed", "cpu_ratio", at_most=1.3)])


def stages(sizes):
    """The same without a server: a loop and a socket vary by more than the guards add."""
    def contender(label, *more, **facts):
        arguments = ("stages", "http://127.0.0.1/json", "--requests", str(10 * sizes.sequential), *more)
        return Contender(label, PENSTOCK, arguments, **facts)

    return Work(
        "stages", "GETs that a transport in memory answers", "µs each", "microseconds_each", False,
        [contender("its field by hand", "--field", is_limit=True), contender("bearer", "--bearer"),
         contender("retry and guards", "--field", "--guarded"), contender("guarded", *GUARDED)],
        [Requirement("guarded", "cpu_added", at_most=3)])


def sequential(at, sizes):
    def arguments(requests):
        return ("sequential", at.plain + "/1k", "--requests", str(requests))

    return Work(
        "sequential", "GETs of 1 KiB, one after another", "µs each", "microseconds_each", False,
        [Contender("C", C, arguments(sizes.sequential), is_limit=True),
         Contender("Penstock, on the loop", PENSTOCK, (*arguments(sizes.sequential), "--on-loop")),
         Contender("Penstock, hopping", PENSTOCK, arguments(sizes.sequential)),
         Contender("URLSession", URLSESSION, arguments(sizes.sequential // sizes.urlsession_share))],
        [Requirement("Penstock, on the loop", "ratio", at_most=1.35)])


def pair(name, title, unit, sample, arguments, at_most):
    """The bare C loop and Penstock side by side, with an absolute bound."""
    return Work(name, title, unit, sample, False,
                [Contender("C", C, arguments, is_limit=True), Contender("Penstock", PENSTOCK, arguments)],
                [Requirement("Penstock", "value", at_most=at_most)])


def to_file(label, file, *command, **facts):
    return Contender(label, COMMAND, ("download", file, *command), **facts)


def aria2c(file, url, *more):
    """Without setting room aside first: that is its fastest."""
    folder, name = os.path.split(file)
    return to_file("aria2c", file, "aria2c", "-q", "--file-allocation=none", "-d", folder, "-o", name, *more, url)


def download(name, title, url, file, is_synced=False):
    """A large plain body to a new file. `curl -o` and `aria2c` leave the bytes to the kernel, Penstock syncs."""
    curl = ("curl", "-sS", "-o", file, url)
    contenders = [to_file("curl -o", file, *curl, is_limit=True), aria2c(file, url)]
    if is_synced:
        contenders.append(to_file("curl -o, sync", file, "sh", "-c", f"{' '.join(curl)} && sync {file}"))
    contenders.append(Contender("Penstock", PENSTOCK, ("download", url, "--to", file)))
    return Work(name, title, "GB/s", "gigabytes_per_second", True, contenders,
                [Requirement("Penstock", "ratio", at_least=1.0),
                 Requirement("Penstock", "cpu_ratio", at_most=1.3)])


def download_hashed(url, file):
    curl = f"curl -sS -o {file} {url} && sha256sum {file}"
    return Work("download-sha256", "large body to a file in memory, SHA-256 computed", "GB/s", "gigabytes_per_second",
                True,
                [to_file("curl -o, sha256sum", file, "sh", "-c", curl, is_limit=True),
                 Contender("Penstock", PENSTOCK, ("download", url, "--to", file, "--sha256"))],
                [Requirement("Penstock", "ratio", at_least=1.0)])


def download_limited(url, file):
    def penstock(label, segments):
        return Contender(label, PENSTOCK, ("download", url, "--to", file, "--segments", str(segments)))

    return Work("download-limited", "a server that gives each connection 20 MB/s", "GB/s", "gigabytes_per_second",
                True,
                [to_file("curl -o", file, "curl", "-sS", "-o", file, url, is_limit=True),
                 aria2c(file, url, "-x8", "-s8", "-k1M"), penstock("Penstock, one stream", 1),
                 penstock("Penstock, 8 segments", 8)],
                [Requirement("Penstock, 8 segments", "ratio", at_least=7, against="Penstock, one stream")])


def download_memory(at):
    def contender(label, url, *more, **facts):
        return Contender(label, PENSTOCK, ("download", url, "--to", at.disk_file, *more), **facts)

    return Work("download-memory", "what a large body to a file on disk needs", "MiB above idle", "mib_above_idle",
                False,
                [contender("one stream", at.plain + "/large", is_limit=True),
                 contender("8 segments", at.plain + "/large", "--segments", "8"),
                 contender("8 segments of 20 MB/s", at.limited, "--segments", "8")],
                [Requirement("one stream", "value", at_most=8), Requirement("8 segments", "value", at_most=24),
                 Requirement("8 segments of 20 MB/s", "value", at_most=24)])


def all_works(at, sizes):
    tls1 = ("--http1.1", "--cacert", at.cacert)
    tls2 = ("--http2", "--cacert", at.cacert)
    stalled = ("--bytes", str(16 * MIB))
    return [
        large("large-plain", "large body, plain HTTP/1.1", at.plain, sizes.count, (), 0.90),
        large("large-tls1", "large body, TLS, HTTP/1.1", at.tls1, 1, tls1, 0.95),
        large("large-tls2", "large body, TLS, HTTP/2", at.tls2, 1, tls2, 0.95),
        download("download", "large body to a file in memory", at.plain + "/large", at.memory_file),
        download("download-disk", "large body to a file on disk", at.plain + "/large", at.disk_file, is_synced=True),
        download_hashed(at.plain + "/large", at.memory_file),
        download_limited(at.limited, at.memory_file),
        download_memory(at),
        small(at, sizes),
        sequential(at, sizes),
        rows(at, sizes),
        values_memory(at, sizes),
        calls(at, sizes),
        stages(sizes),
        many(at, sizes),
        batch(at, sizes),
        hosts(at, sizes),
        parallel(at, sizes, 1000),
        parallel(at, sizes, 4096),
        collected(at, sizes),
        upload("upload", "an upload out of memory, plain HTTP/1.1", at.holder + "/sink", sizes),
        upload("upload-tls2", "an upload out of memory, TLS, HTTP/2", at.tls2 + "/sink", sizes, tls2),
        pair("idle", "2,000 open idle streams", "KiB each", "kib_per_stream",
             ("idle", at.holder + "/hold", "--streams", "2000"), 24),
        events("events", "KiB each", "kib_per_stream", at, 24),
        events("events-cpu", "% of a core", "core_percent", at, 100),
        pair("stopped-reader", "a stopped reader, 1 GiB coming, HTTP/1.1", "MiB above idle", "mib_above_idle",
             ("stopped-reader", at.plain + "/large", "--hold", "2"), 4),
        pair("stopped-reader-2", "a stopped reader, 1 GiB coming, TLS, HTTP/2", "MiB above idle",
             "mib_above_idle", ("stopped-reader", at.tls2 + "/large", "--hold", "2", *tls2), 4),
        pair("stalled-upload", "a peer that reads nothing for 3 s, HTTP/1.1", "% of a core", "core_percent",
             ("upload", at.holder + "/stall", *stalled), 5),
        pair("stalled-upload-2", "a peer that reads nothing for 3 s, TLS, HTTP/2", "% of a core",
             "core_percent", ("upload", at.tls2 + "/stall", *stalled, *tls2), 5),
    ]
