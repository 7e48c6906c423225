#!/usr/bin/env python3
"""What time costs: started by `deploy/bench schedule`, with the environment of bench.py. Prints the figures as JSON.

1. W2, W3 and W4 beside the scheduler, the delivery worker and 5,000 live sockets, as ratios to the same without them.
2. The scheduler's idle cost with 10,000 and with 1,000,000 open nags.
3. How late the steps of 10,000 nags are that fall due within one minute, with 1,000,000 open ones.
4. How fast 1,000 notifications go to a provider that takes 100 ms to answer.
"""
import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time

import bench
import machine
from crowd import Crowd, open_socket

SOCKETS = 5000
FEW, MANY, DUE = 10_000, 1_000_000, 10_000
IDLE_SECONDS = 60


def progress(words):
    print(words, file=sys.stderr, flush=True)


def sql(database, statement):
    """Runs it as the superuser, without the triggers of the audit log; answers the rows' only column."""
    environment = dict(os.environ, PGUSER="postgres", PGPASSWORD=os.environ["BENCH_SUPERUSER_PASSWORD"])
    return subprocess.run(
        [os.environ["BENCH_PG_BIN"] + "/psql", "-XqtAd", database, "-v", "ON_ERROR_STOP=1", "-c",
         "SET session_replication_role = replica", "-c", statement],
        env=environment, check=True, capture_output=True, text=True).stdout.split()


# MARK: data


def prepare():
    """Makes the data such as servers that were never off would have left them, and has all copies made of these: everything
    is in the audit log, the scheduler knows its plan, no open nag is due for a month. Nobody has quiet hours."""
    database = bench.fresh_database("bench_prepared")
    progress("bringing the data into the audit log")
    with server(database):
        settle(database)
    sql(database, """
        UPDATE nags SET due_at = now() + interval '30 days', next_step_at = now() + interval '29 days' WHERE status = 'open'""")
    sql(database, """
        UPDATE preferences SET prefs = prefs - 'quiet_hours_start' - 'quiet_hours_end' - 'quiet_hours_enabled'""")
    sql(database, "VACUUM ANALYZE")
    os.environ["BENCH_TEMPLATE"] = database


def open_nags(database, count):
    """Adds open nags, spread over all families, until there are that many; they are due in a month."""
    sql(database, f"""
        INSERT INTO nags (family_id, id, creator_id, recipient_id, due_at, category, done_definition, description, status,
                          created_at, cycle_started_at, sync_seq, sync_ts, next_step_at)
        SELECT family_id, md5('open' || number)::uuid, creator_id, recipient_id, now() + interval '30 days', 'chores',
               'ack_only', 'Please remember to put the bike back into the garage', 'open', now() - interval '1 day',
               now() - interval '1 day', 0, now() - interval '1 day', now() + interval '29 days'
        FROM (SELECT row_number() OVER (ORDER BY family_id) - 1 AS place, count(*) OVER () AS families, s.*
              FROM (SELECT DISTINCT ON (family_id) family_id, creator_id, recipient_id FROM nags) s) family
        CROSS JOIN LATERAL generate_series(
            (SELECT count(*) FROM nags WHERE status = 'open') + place, {count} - 1, families) number""")
    sql(database, "VACUUM ANALYZE nags")  # or the database would do it on its own while we measure
    sql(database, "CHECKPOINT")


def make_due(database, lead):
    """Makes nags in their first phase due one after the other, within a minute from `lead` seconds on."""
    sql(database, f"""
        UPDATE nags SET due_at = moment, next_step_at = moment, phase = 1, phase_since = now() - interval '30 minutes'
        FROM (SELECT family_id, id, now() + interval '{lead} seconds'
                     + interval '60 seconds' * (row_number() OVER (ORDER BY md5(id::text))) / {DUE} AS moment
              FROM nags WHERE status = 'open' ORDER BY md5(id::text) LIMIT {DUE}) due
        WHERE nags.family_id = due.family_id AND nags.id = due.id""")


# MARK: servers


def server(database, *arguments):
    port = bench.free_port()
    command = [os.environ["BENCH_PROGRAM"], "serve", "--port", str(port), "--rate-limits", "off", "--log", "off", *arguments]
    with open(bench.DATA / "schedule.log", "ab") as log:
        return bench.Server(command, port, "/health/ready", {
            "DATABASE_URL": bench.database_url(database),
            "NAGZ_AUDIT_CHECKPOINT_FILE": str(bench.checkpoint_file(database))}, log)


class Provider:
    """A webhook that answers after 100 ms and notes when."""

    def __init__(self):
        self.port, self.times = bench.free_port(), []
        ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve(ready)), daemon=True).start()
        ready.wait()

    async def serve(self, ready):
        listener = await asyncio.start_server(self.answer, "127.0.0.1", self.port, backlog=1024)
        ready.set()
        async with listener:
            await listener.serve_forever()

    async def answer(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
                await asyncio.sleep(0.1)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                self.times.append(time.monotonic())
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def arguments(self):
        return "--push", f"http://127.0.0.1:{self.port}/push", "--delivery-networks", "127.0.0.1"


# MARK: figures


def split_targets():
    """The load goes to one half of the families, and the sockets are of the other half. Answers (token, family) of these."""
    path = bench.DATA / "targets.txt"
    lines = path.read_text().splitlines()
    families = sorted({line.split()[1] for line in lines})
    of_sockets = set(families[len(families) // 2:])
    path.write_text("".join(line + "\n" for line in lines if line.split()[1] not in of_sockets))
    return [line.split()[:2] for line in lines if line.split()[1] in of_sockets]


def beside(options):
    """The throughput beside everything that goes on by itself, divided by that without, for each workload: the median of the
    turns' ratios, because a machine changes its speed between turns more than within one."""
    people = split_targets()
    ratios = {}
    for workload in ("W2", "W3", "W4"):
        found = {True: [], False: []}
        for turn in range(options.runs):
            for is_live in (False, True) if turn % 2 == 0 else (True, False):
                progress(f"{workload}, turn {turn + 1}, {'beside sockets and scheduler' if is_live else 'alone'}")
                database = bench.fresh_database()
                crowd = Crowd()
                with server(database, *(() if is_live else ("--scheduler", "off", "--deliveries", "off"))) as one:
                    for number in range(SOCKETS if is_live else 0):
                        token, family = people[number % len(people)]
                        crowd.add(open_socket(f"http://127.0.0.1:{one.port}", token, family, f"127.0.1.{1 + number % 200}"))
                    bench.wrk(workload, one.port, options.connections, 2, strict=True)
                    found[is_live].append(bench.wrk(workload, one.port, options.connections, options.seconds)["rps"])
                    crowd.check()
                    crowd.close()
        progress(f"alone {found[False]}, beside {found[True]}")
        ratios[workload.lower()] = round(statistics.median(live / alone for live, alone in zip(found[True], found[False])), 3)
    return ratios


def blocks(database):
    """Blocks of 8 KiB of nags and their indexes that were read so far, from memory or disk: the scheduler's, when there are no
    requests and no check of the audit log."""
    return int(sql(database, """
        SELECT heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read FROM pg_statio_user_tables
        WHERE relname = 'nags'""")[0])


def settle(database):
    """Waits until the server has brought the seeded entries into the audit log and looked at all nags."""
    waiting = """
        SELECT (SELECT count(*) FROM audit_entry) - (SELECT count(*) FROM audit_leaf)
            + (SELECT count(*) FROM nags WHERE status = 'open' AND next_step_at < now())"""
    deadline = time.monotonic() + 600
    while int(sql(database, waiting)[0]) > 0 or not sql(database, "SELECT 1 FROM scheduler_plan"):
        if time.monotonic() > deadline:
            sys.exit("deploy/bench: the server did not come to rest within ten minutes")
        time.sleep(2)


def idle(database):
    """Blocks read in a second, and processor time used for everything, by a server that has nothing to do. Without the
    background check of the audit log, which reads all there is at a pace of its own."""
    with server(database, "--audit-check", "off") as one:
        time.sleep(5)
        before = blocks(database), machine.cpu_seconds(one.process.pid), machine.cpu_seconds(bench.POSTMASTER)
        time.sleep(IDLE_SECONDS)
        after = blocks(database), machine.cpu_seconds(one.process.pid), machine.cpu_seconds(bench.POSTMASTER)
    read, own, its = (late - early for early, late in zip(before, after))
    return {"blocks": round(read / IDLE_SECONDS, 1), "processors": round((own + its) / IDLE_SECONDS, 4)}


def lateness(database, provider):
    """Seconds from a step's time to its record."""
    with server(database, *provider.arguments()):
        time.sleep(3)
        make_due(database, 10)
        due = "status = 'open' AND due_at < now() + interval '1 day'"
        deadline = time.monotonic() + 300
        while int(sql(database, f"SELECT count(*) FROM nags WHERE {due} AND phase = 1")[0]) > 0:
            if time.monotonic() > deadline:
                sys.exit("deploy/bench: some steps were not taken within five minutes")
            time.sleep(1)
        found = sql(database, f"""
            SELECT round(extract(epoch FROM value)::numeric, 2) FROM (
                SELECT unnest(ARRAY[percentile_disc(0.5) WITHIN GROUP (ORDER BY phase_since - due_at),
                                    percentile_disc(0.99) WITHIN GROUP (ORDER BY phase_since - due_at),
                                    max(phase_since - due_at)]) AS value
                FROM nags WHERE {due} AND phase = 2) x""")
        count = int(sql(database, f"SELECT count(*) FROM nags WHERE {due} AND phase = 2")[0])
    if count != DUE:
        sys.exit(f"deploy/bench: {count} steps instead of {DUE}")
    return dict(zip(("p50_s", "p99_s", "most_s"), map(float, found)))


def sending(database, provider):
    """Notifications a second, of 1,000 that are due at once."""
    with server(database, *provider.arguments()) as _:
        time.sleep(2)
        settled = len(provider.times)
        sql(database, """
            UPDATE deliveries SET status = 'pending', next_attempt = now(), attempts = 0, acknowledged = '{}', sent_at = NULL
            WHERE id IN (SELECT id FROM deliveries WHERE status = 'sent' ORDER BY created_at DESC LIMIT 1000)""")
        began, deadline = time.monotonic(), time.monotonic() + 120
        while len(provider.times) < settled + 1000:
            if time.monotonic() > deadline:
                sys.exit(f"deploy/bench: {len(provider.times) - settled} notifications of 1000 were sent")
            time.sleep(0.01)
        elapsed = provider.times[settled + 999] - began
    return round(1000 / elapsed)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers end with their blocks
    parser = argparse.ArgumentParser(prog="deploy/bench schedule")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--connections", type=int, default=64)
    options, _ = parser.parse_known_args()
    prepare()
    database = bench.fresh_database("bench_schedule")
    sql(database, """
        INSERT INTO devices (id, user_id, platform, token, created_at)
        SELECT md5('device' || user_id)::uuid, user_id, 'ios', md5(user_id::text), now() FROM memberships
        WHERE role = 'child'""")
    figures = {}
    for name, count in (("few", FEW), ("many", MANY)):
        progress(f"{count} open nags, nothing due")
        open_nags(database, count)
        figures[f"idle_{name}"] = idle(database)
        progress(figures[f"idle_{name}"])
    figures["idle_growth"] = round(figures["idle_many"]["processors"] / figures["idle_few"]["processors"], 2)
    provider = Provider()
    progress(f"{DUE} of {MANY} nags fall due within a minute")
    figures["late"] = lateness(database, provider)
    progress(figures["late"])
    progress("a thousand notifications at once")
    figures["sent_per_second"] = sending(database, provider)
    progress(figures["sent_per_second"])
    bench.superuser("DROP DATABASE bench_schedule WITH (FORCE)")
    figures["beside"] = beside(options)
    print(json.dumps(figures))


main()
