#!/usr/bin/env python3
"""Whether a request costs more when there are more families: started by `deploy/bench growth`, with the environment of bench.py.
Prints the figures as JSON.

growth.py FAMILIES… [--seconds 2] [--rounds 8] [--connections 64]

Each size has a database `growth_<families>`, a server, and its load scripts in BENCH_DATA/growth-<families>. In each round a workload
runs for a moment at one size after the other, so that a machine that changes its speed does so for all sizes. Equally many
families are active at each size; the others are only there. They are so few that PostgreSQL keeps their rows in its own memory: a
full page reads some 1,200 blocks at any size, and each that it must fetch from the system's cache costs 3 µs more.
"""
import argparse
import contextlib
import json
import signal
import statistics
import sys

import bench

WORKLOADS = ("W3", "W4", "W2")  # W2 last: W3 would read what it writes
ACTIVE = 250  # families with requests, one guardian each
WARM_UPS = 10


def progress(words):
    print(words, file=sys.stderr, flush=True)


def folder(families):
    return bench.DATA / f"growth-{families}"


def activate(families, count):
    """Leaves one guardian of each of `count` families in the targets."""
    path = folder(families) / "targets.txt"
    by_family = {line.split()[1]: line for line in path.read_text().splitlines()}
    if len(by_family) < count:
        sys.exit(f"deploy/bench: {path} has {len(by_family)} families instead of {count}")
    path.write_text("".join(line + "\n" for line in list(by_family.values())[:count]))


def measure(options):
    """Runs by workload and size, one for each round."""
    runs = {workload: {size: [] for size in options.families} for workload in WORKLOADS}
    with contextlib.ExitStack() as stack:
        # Without the background check of the audit log, which would work beside another size's requests.
        servers = {size: stack.enter_context(bench.nagz(f"growth_{size}", "--audit-check", "off")) for size in options.families}

        def load(workload, size, seconds, strict=False):
            server = servers[size]
            return bench.measured(lambda: bench.wrk(
                workload, server.port, options.connections, seconds, strict, folder(size)), server.process.pid)

        for workload in WORKLOADS:
            for size in options.families:
                # Until the active families' rows are in memory: some of the first requests find the disk too slow.
                for _ in range(WARM_UPS):
                    wrong = load(workload, size, options.seconds, strict=True)["non_2xx"]
                    if not wrong:
                        break
                else:
                    sys.exit(f"deploy/bench: {workload} with {size} families: {wrong} requests failed")
            for turn in range(options.rounds):
                progress(f"{workload}, round {turn + 1} of {options.rounds}")
                start = turn % len(options.families)
                for size in options.families[start:] + options.families[:start]:
                    runs[workload][size].append(load(workload, size, options.seconds))
    return runs


def cost(run):
    """Processor time of a request, the server's and PostgreSQL's, in µs."""
    return run["server_us"] + run["postgres_us"]


def figures(runs):
    """For each workload the medians by size, and the highest of the sizes' costs a request as a ratio to the smallest size's."""
    found = {}
    for workload, by_size in runs.items():
        sizes = list(by_size)
        table = {
            str(size): {key: round(statistics.median(run[key] for run in by_size[size]), 1)
                        for key in ("rps", "server_us", "postgres_us", "p99_ms")}
            for size in sizes}
        for size in sizes:
            table[str(size)]["cost"] = round(statistics.median(
                cost(run) / cost(base) for run, base in zip(by_size[size], by_size[sizes[0]])), 3)
        found[workload.lower()] = {"sizes": table, "cost": max(row["cost"] for row in table.values())}
    found["failed"] = sum(
        run["non_2xx"] + run["socket_errors"] for by_size in runs.values() for taken in by_size.values() for run in taken)
    return found


def show(found):
    progress("| | families | req/s | p99 ms | server µs | PostgreSQL µs | cost ÷ smallest |\n|---|---|---|---|---|---|---|")
    for workload in WORKLOADS:
        for size, row in found[workload.lower()]["sizes"].items():
            progress(f"| {workload} | {int(size):,} | {row['rps']:,.0f} | {row['p99_ms']} | {row['server_us']} |"
                     f" {row['postgres_us']} | {row['cost']} |")


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers end with their blocks
    parser = argparse.ArgumentParser(prog="deploy/bench growth")
    parser.add_argument("families", type=int, nargs="+")
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--connections", type=int, default=64)
    options = parser.parse_args()
    options.families.sort()
    for size in options.families:
        activate(size, min(ACTIVE, options.families[0]))
    found = figures(measure(options))
    show(found)
    print(json.dumps(found))


main()
