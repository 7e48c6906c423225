#!/usr/bin/env python3
"""What constraints and the history of AI executions cost: started by `deploy/bench ai`, with the environment of bench.py.
Prints the figures as JSON.

1. W2 with 20 constraints in every family, of which none applies, as a ratio to the same without any.
2. A page of the history of a family with 1,000,000 executions: the newest, from the middle, and with a filter.
"""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import time
import urllib.request

import bench

CONSTRAINTS, EXECUTIONS, PAGES = 20, 1_000_000, 50


def progress(words):
    print(words, file=sys.stderr, flush=True)


def sql(database, statement):
    """Runs it as the superuser; answers the rows' only column."""
    environment = dict(os.environ, PGUSER="postgres", PGPASSWORD=os.environ["BENCH_SUPERUSER_PASSWORD"])
    return subprocess.run(
        [os.environ["BENCH_PG_BIN"] + "/psql", "-XqtAd", database, "-v", "ON_ERROR_STOP=1", "-c", statement],
        env=environment, check=True, capture_output=True, text=True).stdout.split()


def constrain(database):
    """Texts, lengths and privacy levels that no question of W2 has."""
    sql(database, f"""
        INSERT INTO ai_constraints (family_id, id, name, type, enabled, priority, conditions, action, created_by,
                                    created_at, updated_at, changed_by)
        SELECT f.id, md5(f.id::text || n)::uuid, 'Constraint ' || n, 'privacy', true, n,
               jsonb_build_array(
                   jsonb_build_object('field', 'token_count', 'operator', 'exceeds', 'value', (1000 * n)::text),
                   jsonb_build_object('field', 'content', 'operator', 'contains', 'value', 'passport|credit card|text ' || n)),
               '{{"type": "block", "reason": "private"}}', m.user_id, now(), now(), 1
        FROM families f JOIN LATERAL (SELECT user_id FROM memberships WHERE family_id = f.id LIMIT 1) m ON true
        CROSS JOIN generate_series(1, {CONSTRAINTS}) n""")
    sql(database, "VACUUM ANALYZE ai_constraints")


def beside(options):
    """The throughput of W2 with constraints, divided by that without."""
    found = {True: [], False: []}
    for turn in range(options.runs):
        for constrained in (False, True) if turn % 2 == 0 else (True, False):
            progress(f"W2, turn {turn + 1}, {'with' if constrained else 'without'} constraints")
            database = bench.fresh_database()
            if constrained:
                constrain(database)
            with bench.nagz(database) as server:
                bench.wrk("W2", server.port, options.connections, 3, strict=True)
                found[constrained].append(bench.wrk("W2", server.port, options.connections, options.seconds)["rps"])
    progress(f"without {found[False]}, with {found[True]}")
    return round(statistics.median(found[True]) / statistics.median(found[False]), 3)


def history(database):
    """Milliseconds of one request for a page of 50, the median of many."""
    token, family = (bench.DATA / "targets.txt").read_text().split()[:2]
    sql(database, f"""
        INSERT INTO ai_executions (family_id, user_id, created_at, id, trace_id, operation, route, report)
        SELECT m.family_id, m.user_id, now() - n * interval '1 second', md5('e' || n)::uuid, md5('t' || n)::uuid,
               CASE WHEN n % 1000 = 0 THEN 'digest' ELSE 'select_tone' END, 'cloud',
               json_build_object('id', md5('e' || n)::uuid, 'provider', 'heuristic', 'model', null, 'route', 'cloud',
                   'rule_id', 'AUTO_CLOUD', 'reason', 'by its rule', 'task_type', 'heuristic', 'privacy_level', 'auto',
                   'intent', null, 'fallback_allowed', true, 'used_fallback', false, 'fallback_reason', 'none',
                   'fallback_confirmed', false, 'confidence', 0.7, 'token_count', 0, 'latency_ms', 0.5,
                   'evaluated', '[]'::json, 'applied', '[]'::json, 'warnings', '[]'::json, 'violation_reason', null,
                   'side_effects', '[]'::json)
        FROM (SELECT family_id, user_id, row_number() OVER (ORDER BY user_id) - 1 AS place, count(*) OVER () AS people
              FROM memberships WHERE family_id = '{family}') m
        JOIN generate_series(1, {EXECUTIONS}) n ON n % m.people = m.place""")
    sql(database, "VACUUM ANALYZE ai_executions")
    middle = sql(database, f"SELECT to_char((now() - interval '{EXECUTIONS // 2} seconds') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')")[0]
    figures = {}
    with bench.nagz(database) as server:
        for name, filters in (("newest", ""), ("middle", f"&until={middle}"), ("filtered", "&operation=digest")):
            times = []
            for _ in range(PAGES):
                request = urllib.request.Request(
                    f"http://127.0.0.1:{server.port}/api/v1/ai/executions?family_id={family}{filters}",
                    headers={"Authorization": f"Bearer {token}"})
                began = time.monotonic()
                with urllib.request.urlopen(request) as answer:
                    page = json.load(answer)
                times.append((time.monotonic() - began) * 1000)
            if not page["items"]:
                sys.exit(f"deploy/bench: the {name} page of the history is empty")
            figures[name] = round(statistics.median(times), 2)
    return figures


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers end with their blocks
    parser = argparse.ArgumentParser(prog="deploy/bench ai")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--connections", type=int, default=64)
    options, _ = parser.parse_known_args()
    figures = {"constrained": beside(options)}
    progress(f"{EXECUTIONS} executions of one family")
    figures["history_ms"] = history(bench.fresh_database())
    print(json.dumps(figures))


main()
