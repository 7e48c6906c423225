#!/usr/bin/env python3
"""What constraints and the history of AI executions cost: started by `deploy/bench ai`, with the environment of bench.py.
Prints the figures as JSON.

1. W2 with 20 constraints in every family, of which none applies, as a ratio to the same without any.
2. The slowest hundredth of W3 while eight questions wait for a language model, as a ratio to the same without.
3. A page of the history of a family with 1,000,000 executions: the newest, from the middle, and with a filter.
"""
import argparse
import contextlib
import http.server
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

import bench

CONSTRAINTS, EXECUTIONS, PAGES = 20, 1_000_000, 50
# As many as the server has under way at once. More people ask, because each of its loops takes its share only.
QUESTIONS, PEOPLE = 8, 16
# Below the eight seconds after which the server gives up.
ANSWER_SECONDS = 6


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
    """The throughput of W2 with constraints, divided by that without: the median of turns of a second, with both servers
    up, so that a machine that changes its speed does so for both."""
    constrained = bench.fresh_database("bench_constrained")
    constrain(constrained)
    databases = [bench.fresh_database(), constrained]  # which ends with a checkpoint: the writes above are on the disk
    ratios = []
    with bench.nagz(databases[0]) as without, bench.nagz(databases[1]) as with_constraints:
        for server in (without, with_constraints):
            bench.wrk("W2", server.port, options.connections, 3, strict=True)
        for turn in range(options.runs * options.seconds):
            servers = [without, with_constraints]
            requests = {}
            for server in servers if turn % 2 == 0 else servers[::-1]:
                requests[server] = bench.wrk("W2", server.port, options.connections, 1)["rps"]
            ratios.append(requests[with_constraints] / requests[without])
            progress(f"W2, turn {turn + 1}: {requests[without]:.0f} without and {requests[with_constraints]:.0f} with constraints")
    quarters = statistics.quantiles(ratios)
    progress(f"ratio's quartiles {quarters[0]:.3f} and {quarters[2]:.3f}")
    return round(quarters[1], 3)


class SlowModel(http.server.BaseHTTPRequestHandler):
    """A gateway with OpenAI's protocol whose answers take long. They are the rules' own words, which are always shown."""
    protocol_version = "HTTP/1.1"
    waiting = threading.Semaphore(0)

    def log_message(self, *_):
        pass

    def answer(self, document):
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer({"data": [{"id": "slow"}]})

    def do_POST(self):
        prompt = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"]
        reason = next(line.removeprefix("Reason: ") for line in prompt.splitlines() if line.startswith("Reason: "))
        SlowModel.waiting.release()
        time.sleep(ANSWER_SECONDS)
        self.answer({"choices": [{"finish_reason": "stop", "message": {"content": reason}}]})


@contextlib.contextmanager
def slow_model():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), SlowModel)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ.update(NAGZ_MODEL_URL=f"http://127.0.0.1:{server.server_port}", NAGZ_MODEL_NAME="slow")
    try:
        yield
    finally:
        del os.environ["NAGZ_MODEL_URL"], os.environ["NAGZ_MODEL_NAME"]
        server.shutdown()


def ask(port, line, ended, providers):
    """Asks again and again for the tone of a nag, worded by the model."""
    token, _, nags = line.split()
    body = json.dumps({"nag_id": nags.split(",")[0], "task_type": "local_llm"}).encode()
    while not ended.is_set():
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/api/v1/ai/select-tone", body,
            {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            providers.append(json.load(answer)["execution"]["provider"])


def beside_models(options):
    """W3's p99 beside eight questions that a model works on, divided by that without them."""
    found, ended, providers = {True: [], False: []}, threading.Event(), []
    database = bench.fresh_database()
    sql(database, """
        INSERT INTO preferences (family_id, user_id, prefs, updated_at)
        SELECT family_id, user_id, '{"ai_mode": "auto"}', now() FROM memberships
        ON CONFLICT (family_id, user_id) DO UPDATE SET prefs = preferences.prefs || excluded.prefs""")
    with slow_model(), bench.nagz(database) as server:
        bench.wrk("W3", server.port, options.connections, 3, strict=True)
        lines = (bench.DATA / "targets.txt").read_text().splitlines()[:PEOPLE]
        for turn in range(options.runs):
            progress(f"W3, turn {turn + 1}, with and without questions to a model")
            found[False].append(bench.wrk("W3", server.port, options.connections, options.seconds)["p99_ms"])
            ended.clear()
            threads = [threading.Thread(target=ask, args=(server.port, line, ended, providers)) for line in lines]
            for thread in threads:
                thread.start()
            for _ in range(QUESTIONS):
                SlowModel.waiting.acquire()
            found[True].append(bench.wrk("W3", server.port, options.connections, options.seconds)["p99_ms"])
            ended.set()
            for thread in threads:
                thread.join()
            while SlowModel.waiting.acquire(blocking=False):
                pass
    words = providers.count("server_gateway")
    if words < QUESTIONS * options.runs:
        sys.exit(f"deploy/bench: the model gave {words} answers only")
    progress(f"without {found[False]}, with {found[True]}, {words} answers by the model")
    return round(statistics.median(found[True]) / statistics.median(found[False]), 3)


def history(database):
    """Milliseconds of one request for a page of 50, the median of many."""
    token, family = (bench.DATA / "targets.txt").read_text().split()[:2]
    sql(database, f"""
        INSERT INTO ai_executions (family_id, user_id, created_at, id, trace_id, operation, route, report)
        SELECT m.family_id, m.user_id, now() - n * interval '1 second', md5('e' || n)::uuid, md5('t' || n)::uuid,
               CASE WHEN n % 1000 = 0 THEN 'digest' ELSE 'select_tone' END, 'cloud',
               json_build_object('latency_ms', 0.5, 'stages', json_build_array(
                   json_build_object('stage', 'created', 'at', now()), json_build_object('stage', 'routed', 'at', now()),
                   json_build_object('stage', 'executed', 'at', now()), json_build_object('stage', 'completed', 'at', now())))
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
    figures = {"constrained": beside(options), "slow_models": beside_models(options)}
    progress(f"{EXECUTIONS} executions of one family")
    figures["history_ms"] = history(bench.fresh_database())
    print(json.dumps(figures))


main()
