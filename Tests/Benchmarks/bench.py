#!/usr/bin/env python3
"""Drives the workloads against a release server and their yardsticks, prints a Markdown table, checks the bars.

Started by deploy/bench, which makes the cluster, the data and the environment:
BENCH_DATA (targets.txt, since.txt, pgoptions.txt), BENCH_PROGRAM, BENCH_TEMPLATE (the seeded database),
BENCH_POSTMASTER (process id), BENCH_PG_BIN, BENCH_SUPERUSER_PASSWORD, PGHOST, PGPORT, PGUSER, PGPASSWORD,
NAGZ_TOKEN_KEY_FILE, BENCH_CLIMIT (optional).
"""
import argparse
import contextlib
import fnmatch
import http.client
import itertools
import json
import os
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import sys
import time

import machine

HERE = pathlib.Path(__file__).resolve().parent
DATA = pathlib.Path(os.environ["BENCH_DATA"])
POSTMASTER = int(os.environ["BENCH_POSTMASTER"])
QUIET = 0.15  # processors that others may use during a run that counts as quiet

WORKLOADS = {
    "W1": {"what": "GET version", "writes": False, "status": 200},
    "W2": {"what": "POST select-tone, durable", "writes": True, "status": 201},
    "W3": {"what": "GET sync, few changes", "writes": False, "status": 200},
    "W4": {"what": "GET sync, full page", "writes": False, "status": 200},
}


def arguments():
    parser = argparse.ArgumentParser(prog="deploy/bench")
    parser.add_argument("workloads", nargs="*", choices=[[], *WORKLOADS], metavar="W1…W4")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--cold", type=int, default=5)
    parser.add_argument("--results", type=pathlib.Path, required=True)
    chosen = parser.parse_args()
    chosen.workloads = chosen.workloads or list(WORKLOADS)
    return chosen


# MARK: the database


def superuser(statement):
    """Runs it; answers its rows."""
    environment = dict(
        os.environ, PGUSER="postgres", PGPASSWORD=os.environ["BENCH_SUPERUSER_PASSWORD"],
        PGOPTIONS="-c client_min_messages=warning")
    return subprocess.run(
        [os.environ["BENCH_PG_BIN"] + "/psql", "-XqtAd", "postgres", "-v", "ON_ERROR_STOP=1", "-c", statement],
        env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def fresh_database(name="bench_copy"):
    """A copy of the seeded database, so that what one workload writes is not there for the next."""
    superuser(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    superuser(f"CREATE DATABASE {name} TEMPLATE {os.environ['BENCH_TEMPLATE']} OWNER nagz STRATEGY file_copy")
    superuser(f"REVOKE TEMPORARY ON DATABASE {name} FROM PUBLIC")  # a copy does not take that over
    superuser("CHECKPOINT")
    checkpoint_file(name).unlink(missing_ok=True)
    return name


def checkpoint_file(database):
    """Where a server remembers the audit log: another database has another log."""
    return DATA / f"{database}.checkpoint"


# MARK: servers


class Server:
    """A server under load, ended with the block it is made for."""

    def __init__(self, command, port, ready, environment, log):
        self.port = port
        started = time.perf_counter()
        self.process = subprocess.Popen(
            command, env=dict(os.environ, **environment), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True)
        while not self.answers(ready):
            if self.process.poll() is not None:
                sys.exit(f"deploy/bench: {command[0]} ended with {self.process.returncode}, see {log.name}")
            if time.perf_counter() - started > 60:
                self.stop()
                sys.exit(f"deploy/bench: {command[0]} was not ready within 60 s, see {log.name}")
            time.sleep(0.0005)
        self.start_ms = (time.perf_counter() - started) * 1e3

    def answers(self, path):
        """Whether one bare request gets 200: a socket, so that the measuring costs next to nothing."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), 5) as connection:
                connection.sendall(f"GET {path} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n".encode())
                return b" 200" in connection.recv(64)
        except OSError:
            return False

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def database_url(database):
    """Of the server's login."""
    return "postgres://{PGUSER}:{PGPASSWORD}@{PGHOST}:{PGPORT}/".format(**os.environ) + database


def nagz(database, *arguments):
    port = free_port()
    command = [os.environ["BENCH_PROGRAM"], "serve", "--port", str(port), "--rate-limits", "off", "--log", "off",
               # The data hold nags that nobody has escalated for three months.
               "--scheduler", "off", *arguments]
    with open(DATA / "server.log", "ab") as log:
        return Server(command, port, "/health/ready", {
            "DATABASE_URL": database_url(database), "NAGZ_AUDIT_CHECKPOINT_FILE": str(checkpoint_file(database))}, log)


def climit():
    """The C prototype of the peer benchmark, without its database connections."""
    port = free_port()
    with open(DATA / "climit.log", "ab") as log:
        return Server([os.environ["BENCH_CLIMIT"], str(port), "2", "0"], port, "/api/v1/version", {}, log)


# MARK: measuring


def measured(load, server=None):
    """One run with the processor time of everyone involved."""
    def clocks():
        return (machine.cpu_seconds(server), machine.cpu_seconds(POSTMASTER), machine.busy_seconds(),
                machine.finished_children_seconds(), time.monotonic())
    before = clocks()
    run = load()
    after = clocks()
    of_server, of_postgres, busy, of_load, elapsed = (b - a for a, b in zip(before, after))
    run["server_us"] = of_server / run["requests"] * 1e6
    run["postgres_us"] = of_postgres / run["requests"] * 1e6
    run["foreign"] = (busy - of_server - of_postgres - of_load) / elapsed
    return run


def quietest(loads, rounds):
    """Runs the loads by turns, so that a machine that changes its speed does so for all of them, and again while others
    are busy, at most rounds + 2 times; answers the quietest rounds, and all."""
    taken = []
    for _ in range(rounds + 2):
        taken.append([measured(load, server) for load, server in loads])
        if sum(all(run["foreign"] < QUIET for run in turn) for turn in taken) >= rounds:
            break
    return sorted(taken, key=lambda turn: max(QUIET, *(run["foreign"] for run in turn)))[:rounds], taken


def medians(place, kept, taken):
    """The medians of one load's runs; what went wrong is added up over all of them."""
    median = {key: statistics.median(turn[place][key] for turn in kept) for key in kept[0][place]}
    for key in ("non_2xx", "socket_errors"):
        if key in median:
            median[key] = sum(turn[place][key] for turn in taken)
    median["all_rps"] = [round(turn[place]["rps"]) for turn in kept]
    return median


def wrk(workload, port, connections, seconds, strict=False, data=DATA, close=False):
    environment = dict(os.environ, WORKLOAD=workload, BENCH_DATA=str(data))
    if strict:
        environment["STRICT"] = "1"
    if close:
        environment["CLOSE"] = "1"
    output = subprocess.run(
        ["wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", str(HERE / "load.lua"),
         f"http://127.0.0.1:{port}"], env=environment, check=True, capture_output=True, text=True).stdout
    run = json.loads(re.search(r"^JSON (.*)$", output, re.M).group(1))
    run["requests"] = max(run["requests"], 1)
    run["rps"] = run["requests"] / run["seconds"]
    return run


def pgbench(script, database, seconds):
    since = (DATA / "since.txt").read_text().strip()
    result = subprocess.run(
        [os.environ["BENCH_PG_BIN"] + "/pgbench", "-n", "-M", "prepared", "-c", "16", "-j", "2", "-T", str(seconds),
         "-D", f"since={since}", "-f", str(script), database],
        env=dict(os.environ, PGOPTIONS=(DATA / "pgoptions.txt").read_text()), capture_output=True, text=True)
    found = re.search(r"actually processed: (\d+)", result.stdout)
    if result.returncode or not found or int(found.group(1)) == 0:
        # The first line names the program; of what it says then the last line tells most.
        lines = (result.stdout + result.stderr).strip().splitlines()[1:] or ["no output"]
        raise RuntimeError(f"{script.name}: exit {result.returncode}, {lines[-1]}")
    time.sleep(0.3)  # until the backends' processor time has been added to the postmaster's
    return {"requests": int(found.group(1)), "rps": float(re.search(r"tps = ([\d.]+)", result.stdout).group(1))}


@contextlib.contextmanager
def yardstick(workload, options):
    """What the same work reaches without this server: its name, and its load and process id, or why there is none."""
    if workload == "W1":
        if "BENCH_CLIMIT" not in os.environ:
            yield None, "the C prototype is not here (../shared/bench)"
            return
        with climit() as server:
            wrk(workload, server.port, options.connections, 1)
            load = lambda: wrk(workload, server.port, options.connections, options.seconds)
            yield "C prototype", (load, server.process.pid)
        return
    script = DATA / f"{workload.lower()}.pgb"
    database = fresh_database("bench_yardstick")
    try:
        pgbench(script, database, 1)
    except RuntimeError as problem:
        yield "failed", str(problem)
        return
    yield "pgbench", (lambda: pgbench(script, database, options.seconds), None)


def look(workload, port, target):
    """One request as the load will send it: the status must be right; answers how many rows a sync answer holds."""
    token, family, nags = target.split()
    headers, body, method, path = {"Authorization": f"Bearer {token}"}, None, "GET", "/api/v1/version"
    if workload == "W2":
        method, path, headers["Content-Type"] = "POST", "/api/v1/ai/select-tone", "application/json"
        body = json.dumps({"nag_id": nags.split(",")[0]})
    elif workload in ("W3", "W4"):
        path = f"/api/v1/sync/events?family_id={family}"
        if workload == "W3":
            path += "&since=" + (DATA / "since.txt").read_text().strip()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    content = answer.read()
    if answer.status != WORKLOADS[workload]["status"]:
        sys.exit(f"deploy/bench: {workload} {method} {path} answered {answer.status}: {content[:300]!r}")
    answer = json.loads(content)
    return sum(len(value) for value in answer.values() if isinstance(value, list))


def measure(workload, options):
    with nagz(fresh_database()) as server, yardstick(workload, options) as (name, other):
        with open(DATA / "targets.txt") as targets:
            rows = statistics.mean(look(workload, server.port, target) for target in itertools.islice(targets, 20))
        warm = wrk(workload, server.port, options.connections, 2, strict=True)
        load = lambda: wrk(workload, server.port, options.connections, options.seconds)
        loads = [(load, server.process.pid)] + ([] if isinstance(other, str) else [other])
        kept, taken = quietest(loads, options.runs)
        figures = medians(0, kept, taken)
        figures["peak_mb"] = machine.peak_megabytes(server.process.pid)
    figures["non_2xx"] += warm["non_2xx"]
    figures["rows"] = rows
    figures["kilobytes"] = figures["bytes"] / figures["requests"] / 1024
    if isinstance(other, str):
        figures["no_ratio"], figures["yardstick_failed"] = other, name == "failed"
    else:
        its = medians(1, kept, taken)
        figures["yardstick"], figures["yardstick_rps"] = name, its["rps"]
        if its["server_us"]:
            figures["yardstick_us"] = its["server_us"]
        figures["ratio"] = statistics.median(ours["rps"] / theirs["rps"] for ours, theirs in kept)
        if "p99_ms" in its:
            figures["p99_ratio"] = statistics.median(ours["p99_ms"] / theirs["p99_ms"] for ours, theirs in kept)
    return figures


def cold_start(options):
    database = fresh_database()
    starts = []
    for _ in range(options.cold):
        with nagz(database) as server:
            starts.append(server.start_ms)
    return statistics.median(starts)


# MARK: the report


COLUMNS = [
    ("req/s", "rps", "{:,.0f}"), ("p50 ms", "p50_ms", "{:.2f}"), ("p99 ms", "p99_ms", "{:.2f}"),
    ("server µs", "server_us", "{:.1f}"), ("PostgreSQL µs", "postgres_us", "{:.1f}"), ("peak MB", "peak_mb", "{:.0f}"),
    ("non-2xx", "non_2xx", "{:.0f}"), ("KB", "kilobytes", "{:.1f}"), ("rows", "rows", "{:.0f}"),
    ("yardstick", "yardstick", "{}"), ("its req/s", "yardstick_rps", "{:,.0f}"), ("its µs", "yardstick_us", "{:.1f}"),
    ("ratio", "ratio", "{:.2f}"), ("p99 ratio", "p99_ratio", "{:.2f}"), ("others' CPU", "foreign", "{:.2f}"),
]


def table(results):
    lines = ["| | " + " | ".join(title for title, _, _ in COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for workload, figures in results.items():
        cells = [form.format(figures[key]) if key in figures else "–" for _, key, form in COLUMNS]
        lines.append(f"| {workload} {WORKLOADS[workload]['what']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def check_bars(results):
    """Prints each bar as reached or missed; a bar without a figure is neither. Answers whether none was missed
    and no yardstick failed."""
    fine = True
    for bar in json.loads((HERE / "thresholds.json").read_text())["bars"]:
        for workload, figures in results.items():
            if not fnmatch.fnmatch(workload, bar["workload"]):
                continue
            value = figures.get(bar["figure"])
            low, high = bar.get("at_least"), bar.get("at_most")
            wanted = f"at least {low}" if low is not None else f"at most {high}"
            if value is None:
                verdict = "no figure: " + figures.get("no_ratio", "not measured")
                fine = fine and not figures.get("yardstick_failed")
            elif (low is not None and value < low) or (high is not None and value > high):
                verdict, fine = f"MISSED with {value:.3g}", False
            else:
                verdict = f"reached with {value:.3g}"
            print(f"{workload} {bar['figure']} {wanted}: {verdict}")
    return fine


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers end with their blocks
    options = arguments()
    cold = cold_start(options)
    print(f"cold start to the first 200 on /health/ready: {cold:.0f} ms (median of {options.cold})", flush=True)
    results = {}
    for workload in options.workloads:
        results[workload] = measure(workload, options) | {"cold_start_ms": cold}
        print(f"{workload}: {results[workload]['rps']:,.0f} req/s, runs {results[workload]['all_rps']}", flush=True)
    options.results.write_text(json.dumps({"cold_start_ms": cold, "workloads": results}, indent=1) + "\n")
    print(f"\n{options.connections} connections, {options.seconds} s a run, medians of the {options.runs} quietest rounds;"
          " µs are processor time a request\n")
    print(table(results) + "\n")
    sys.exit(0 if check_bars(results) else 1)


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as problem:
        sys.exit(f"deploy/bench: {problem}")
