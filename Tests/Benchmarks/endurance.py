#!/usr/bin/env python3
"""Whether a server grows under a mixed load: started by `deploy/bench endurance`, with the environment of bench.py. Prints the
figures as JSON.

endurance.py [--minutes 5] [--rate 300]

Four processes send requests at a steady rate in all, one signs people in and out, one opens and closes WebSockets. Meanwhile the
server's memory, descriptors, threads and database sessions are sampled. A slope is the median of the slopes of all pairs of samples
(Theil and Sen) after the first fifth of the run, in which caches fill.

A family is reckoned to send 500 requests in a day of 16 hours, so 250 in eight hours: eight hours of 1,000 families are 250,000
requests, which are sent within minutes here. Slopes are per hour of 1,000 such families, 31,250 requests.

Times of the last tenth of the run are compared with those of the first. PostgreSQL makes its checkpoints so often that each tenth
has one, and a process without requests measures how fast the machine itself is.
"""
import argparse
import collections
import contextlib
import http.client
import itertools
import json
import math
import multiprocessing
import os
import random
import signal
import statistics
import sys
import time
import uuid
from datetime import datetime, timedelta, timezone

import audit
import bench
import machine
from crowd import Crowd, open_socket

PROCESSES = 4
SOCKETS, SOCKETS_PER_SECOND = 200, 10
ACCOUNTS = 10
REQUESTS_PER_HOUR = 31_250  # of 1,000 families
EIGHT_HOURS = 250  # requests of one family
WARMING = 1 / 5  # of the run, in which caches fill


def progress(words):
    print(words, file=sys.stderr, flush=True)


def moment(**distance):
    return (datetime.now(timezone.utc) + timedelta(**distance)).strftime("%Y-%m-%dT%H:%M:%SZ")


# MARK: the load


class Client:
    """One keep-alive connection, and what came of its requests."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.times, self.failed = [], {}

    def call(self, kind, method, path, body=None, token=None, also=()):
        """The answer. Counts as failed what is no success; `also` names other statuses and error codes that are right."""
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        began = time.time()
        try:
            self.connection.request(method, "/api/v1" + path, json.dumps(body) if body is not None else None, headers)
            answer = self.connection.getresponse()
            content, status = answer.read(), answer.status
        except (OSError, http.client.HTTPException) as fault:
            self.connection.close()
            content, status = b"", type(fault).__name__
        self.times.append((began, time.time() - began, kind))
        if not (isinstance(status, int) and (status < 300 or status in also or error_code(content) in also)):
            fault = f"{kind} {status} {error_code(content)}"
            self.failed[fault] = self.failed.get(fault, 0) + 1
            return None
        return json.loads(content) if content else None


def error_code(content):
    try:
        return json.loads(content)["error"]["code"]
    except (ValueError, KeyError, TypeError):
        return None


def act(client, target, since):
    """One request of a guardian, chosen as often as a family sends it. `since` has the guardians' positions in the feed."""
    token, family, nags = target.split()
    nag = random.choice(nags.split(","))
    part = random.random()
    if part < 0.70:
        answer = client.call("sync", "GET", f"/sync/events?family_id={family}&since={since[token]}", token=token)
        if answer:
            since[token] = answer["server_time"][:19] + "Z"  # the whole second, as the public clients send it
    elif part < 0.72:
        client.call("first sync", "GET", f"/sync/events?family_id={family}&facts=true", token=token)
    elif part < 0.80:
        client.call("nags", "GET", f"/nags?family_id={family}&limit=20", token=token)
    elif part < 0.84:
        client.call("report", "GET", f"/reports/family/weekly?family_id={family}", token=token)
    elif part < 0.90:
        client.call("tone", "POST", "/ai/select-tone", {"nag_id": nag}, token)
    elif part < 0.92:
        client.call("prediction", "GET", f"/ai/predict-completion?nag_id={nag}", token=token)
    elif part < 0.95:
        client.call("family", "PATCH", f"/families/{family}", {"name": f"Family {random.randrange(1000)}"}, token)
    elif part < 0.98:
        client.call("device", "POST", "/sync/events", {"family_id": family, "items": [{
            "client_id": str(uuid.uuid4()), "kind": "note", "nag_id": nag, "made_at": moment(minutes=-1), "source": "keyboard",
            "text": "It is nearly done."}]}, token)
    else:
        # That a guardian has reached the day's number of nags, in the family or for the child, is a right answer too.
        client.call("nag", "POST", "/nags", {
            "family_id": family, "recipient_id": recipient(client, family, token), "due_at": moment(days=1),
            "category": "chores", "done_definition": "ack_only", "description": "Feed the fish"}, token, also=("POLICY_FORBIDDEN", 429))


def recipient(client, family, token):
    members = client.call("members", "GET", f"/families/{family}/members", token=token)
    return next(member["user_id"] for member in members["items"] if member["role"] == "child")


def send(port, targets, rate, end, pipe):
    """Requests at a steady rate; one that is late does not wait for the next one's time."""
    first = (bench.DATA / "since.txt").read_text().strip()
    client, since = Client(port), collections.defaultdict(lambda: first)
    due = time.monotonic()
    while time.time() < end:
        act(client, random.choice(targets), since)
        due += 1 / rate
        time.sleep(max(0, due - time.monotonic()))
    pipe.send((client.times, client.failed, due - time.monotonic()))


def sign_in(port, end, pipe):
    """People who sign in, register their device, refresh their session and sign out."""
    client, people = Client(port), []
    for number in range(ACCOUNTS):
        email = f"endurance.{number}@example.com"
        client.call("sign-up", "POST", "/auth/signup", {
            "email": email, "password": "endurance passphrase", "display_name": "Ada"})
        people.append(email)
    for email in itertools.cycle(people):
        if time.time() >= end:
            break
        session = client.call("sign-in", "POST", "/auth/login", {"email": email, "password": "endurance passphrase"})
        if session:
            client.call("device", "POST", "/devices", {"platform": "ios", "token": f"device of {email}"}, session["access_token"],
                        also=(429,))
            session = client.call("refresh", "POST", "/auth/refresh", {"refresh_token": session["refresh_token"]})
        if session:
            client.call("sign-out", "POST", "/auth/logout", {"refresh_token": session["refresh_token"]}, session["access_token"])
        time.sleep(1)
    pipe.send((client.times, client.failed, 0))


def come_and_go(port, targets, end, pipe):
    """WebSockets, of which the oldest are closed and others opened all the time."""
    crowd, opened = Crowd(), 0
    while time.time() < end:
        token, family, _ = random.choice(targets).split()
        crowd.add(open_socket(f"http://127.0.0.1:{port}", token, family, f"127.0.1.{1 + opened % 200}"))
        opened += 1
        if len(crowd.sockets) > SOCKETS:
            crowd.remove_oldest()
        time.sleep(1 / SOCKETS_PER_SECOND if opened > SOCKETS else 0)
    crowd.check()
    crowd.close()
    pipe.send((opened, {}, 0))


def calculate(end, pipe):
    """How much processor time the same calculation takes, ten times a second: how fast the machine is without the server."""
    times = []
    while time.time() < end:
        began, used = time.time(), time.process_time()
        sum(range(100_000))
        times.append((began, time.process_time() - used, "calculation"))
        time.sleep(0.1)
    pipe.send((times, {}, 0))


# MARK: samples


def sample(server, database):
    """Takes a second. Of the memory it is the least, because hashing a password needs 64 MiB for a moment."""
    memory = []
    for _ in range(20):
        memory.append(machine.resident_bytes(server.process.pid))
        time.sleep(0.05)
    with open(f"/proc/{server.process.pid}/status") as status:
        threads = next(int(line.split()[1]) for line in status if line.startswith("Threads:"))
    sessions = bench.superuser(
        f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}' AND usename = '{os.environ['PGUSER']}'")
    return {"at": time.time(), "memory_mb": min(memory) / (1 << 20),
            "descriptors": machine.descriptors(server.process.pid), "threads": threads, "sessions": int(sessions)}


def slope(samples, key, seconds_per_hour):
    """The median slope of all pairs of samples, and the half width of its 95 % interval, per hour of 1,000 families."""
    points = samples[::math.ceil(len(samples) / 400)]
    slopes = sorted((late[key] - early[key]) / (late["at"] - early["at"]) * seconds_per_hour
                    for early, late in itertools.combinations(points, 2))
    count = len(points)
    width = 1.96 * math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    low, high = (slopes[max(0, min(len(slopes) - 1, round((len(slopes) + sign * width) / 2)))] for sign in (-1, 1))
    return round(statistics.median(slopes), 3), round((high - low) / 2, 3)


def percentile(times, part):
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


# MARK: the run


@contextlib.contextmanager
def frequent_checkpoints(seconds):
    """PostgreSQL begins a checkpoint after that many seconds; 30 are the fewest it takes."""
    bench.superuser(f"ALTER SYSTEM SET checkpoint_timeout = '{max(30, round(seconds))}s'")
    bench.superuser("SELECT pg_reload_conf()")
    try:
        yield
    finally:
        bench.superuser("ALTER SYSTEM RESET checkpoint_timeout")
        bench.superuser("SELECT pg_reload_conf()")


def run(server, database, options):
    targets = (bench.DATA / "targets.txt").read_text().splitlines()
    began = time.time()
    end = began + options.minutes * 60
    jobs = [(send, server.port, targets[number::PROCESSES], options.rate / PROCESSES) for number in range(PROCESSES)]
    jobs += [(sign_in, server.port), (come_and_go, server.port, targets), (calculate,)]
    pipes, processes = [], []
    for job, *given in jobs:
        mine, theirs = multiprocessing.Pipe()
        processes.append(multiprocessing.Process(target=job, args=(*given, end, theirs), daemon=True))
        processes[-1].start()
        theirs.close()
        pipes.append(mine)
    samples = []
    while time.time() < end:
        samples.append(sample(server, database))
        if len(samples) % 30 == 0:
            progress({key: round(value, 1) for key, value in samples[-1].items() if key != "at"})
    try:
        found = [pipe.recv() for pipe in pipes]
    except EOFError:
        sys.exit("deploy/bench: a process of the load ended early, see above")
    for process in processes:
        process.join()
    return began, samples, found


def show_kinds(first, last):
    """Medians and p99 by kind of request, so that a run whose times grow says which do."""
    for kind in sorted({kind for _, _, kind in first}):
        parts = [[time * 1e3 for _, time, other in part if other == kind] for part in (first, last)]
        if all(parts):
            (p50, p99), (p50_last, p99_last) = ([percentile(part, share) for share in (0.5, 0.99)] for part in parts)
            progress(f"{kind}: p50 {p50:.1f} → {p50_last:.1f} ms, p99 {p99:.1f} → {p99_last:.1f} ms, {len(parts[1])} requests")


def first_and_last_tenth(measured):
    tenth = len(measured) // 10
    return measured[:tenth], measured[-tenth:]


def figures(began, samples, found, options):
    *senders, sockets, (calculations, _, _) = found
    times = sorted(itertools.chain.from_iterable(times for times, _, _ in senders))
    failed = {}
    for _, faults, _ in senders:
        for fault, count in faults.items():
            failed[fault] = failed.get(fault, 0) + count
    if failed:
        progress(f"failed: {failed}")
    # Signing in takes as long as hashing a password.
    requests = sorted(itertools.chain.from_iterable(times for times, _, _ in senders[:PROCESSES]))
    warm = began + options.minutes * 60 * WARMING
    measured, kept = [one for one in requests if one[0] >= warm], [one for one in samples if one["at"] >= warm]
    parts = first_and_last_tenth(measured)
    first, last = (percentile([time for _, time, _ in part], 0.99) * 1e3 for part in parts)
    show_kinds(*parts)
    machine_first, machine_last = (
        statistics.median(time for _, time, _ in part)
        for part in first_and_last_tenth([one for one in calculations if one[0] >= warm]))
    rate = len(times) / (options.minutes * 60)
    result = {
        "requests": len(times), "per_second": round(rate), "families_of_eight_hours": round(len(times) / EIGHT_HOURS),
        "sockets_opened": sockets[0], "failed": sum(failed.values()),
        "p99_ms_first_tenth": round(first, 2), "p99_ms_last_tenth": round(last, 2), "p99_ratio": round(last / first, 2),
        "machine_ratio": round(machine_last / machine_first, 2),
        "memory_mb": round(kept[-1]["memory_mb"], 1), "behind_s": round(max(0, *(-late for _, _, late in senders)), 1),
    }
    for key in ("memory_mb", "descriptors", "threads", "sessions"):
        result[f"{key}_slope"], result[f"{key}_resolution"] = slope(kept, key, REQUESTS_PER_HOUR / rate)
    return result


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server ends with its block
    parser = argparse.ArgumentParser(prog="deploy/bench endurance")
    parser.add_argument("--minutes", type=int, default=5)
    parser.add_argument("--rate", type=int, default=300)
    options = parser.parse_args()
    database = bench.fresh_database()
    tenth = options.minutes * 60 * (1 - WARMING) / 10
    with frequent_checkpoints(tenth), bench.nagz(database) as server:
        began, samples, found = run(server, database, options)
        entries = audit.wait_until_logged(server.port)
    result = figures(began, samples, found, options)
    export = bench.DATA / "endurance.ndjson"
    audit.verify(export, audit.export_log(database, export))
    print(json.dumps(result | {"verified_entries": entries}))


main()
