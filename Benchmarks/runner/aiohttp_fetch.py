#!/usr/bin/python3
"""So many GETs with Python's aiohttp, a fixed number at once, read to the end: prints the line that our own
programs print."""

import argparse
import asyncio
import json
import resource
import time


async def fetch(session, url, requests, parallel):
    left = iter(range(requests))
    total = 0

    async def worker():
        nonlocal total
        for _ in left:
            async with session.get(url) as response:
                response.raise_for_status()
                total += len(await response.read())

    await asyncio.gather(*(worker() for _ in range(parallel)))
    return total


async def main():
    import aiohttp

    parser = argparse.ArgumentParser()
    parser.add_argument("mode")
    parser.add_argument("url")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--parallel", type=int, default=64)
    chosen = parser.parse_args()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=chosen.parallel)) as session:
        await fetch(session, chosen.url, 4 * chosen.parallel, chosen.parallel)
        before, begin = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
        total = await fetch(session, chosen.url, chosen.requests, chosen.parallel)
        end, after = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({
        "mode": chosen.mode, "requests": chosen.requests, "bytes": total, "seconds": end - begin,
        "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "peak_rss_kib": after.ru_maxrss, "voluntary_switches": after.ru_nvcsw - before.ru_nvcsw,
        "involuntary_switches": after.ru_nivcsw - before.ru_nivcsw}))


asyncio.run(main())
