"""Kills servers and their database while nags escalate, and counts: each step, its audit entry and its notification once.

Two instances serve one database. Families create nags through both, again with the same Idempotency-Key when one dies; a child
does every second one, and the others are missed. Meanwhile instances and the database are killed, one after the other; each
time the next step must be taken within seconds. In the end the database and the receiver of the notifications must agree that
nothing was lost and nothing came twice. The last line is the figures as JSON; a broken promise is a sentence after it and
status 1.

A notification may come twice where a process died after the receiver had it and before that was recorded: it has the same id
each time, and is counted apart.
"""
import argparse
import collections
import contextlib
import http.client
import itertools
import json
import math
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

from household import DEADLINE, Broken, Household, request
from webhook import Webhook

ESCALATION = "phase_1=-2s,phase_2=0s,phase_3=2s,phase_4=4s,missed=6s,reminders=1h"
HOUSEHOLDS = 4  # families at a time
ANSWER_TIME = 0.1  # seconds that the receiver takes to acknowledge, as a push service does
TAKEOVER = 10  # seconds until another instance takes the next step
UNRECORDED = 10  # seconds between a receipt and its record, with a restart of the database in between

HERE = pathlib.Path(__file__).parent
SCRATCH = pathlib.Path(os.environ["SCRATCH"])
LOGS = pathlib.Path(os.environ["LOGS"])
PORTS = [int(port) for port in os.environ["PORTS"].split()]


def eventually(condition, promise, pause=0.02):
    """Asks until the condition is true. Returns the seconds that it took."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > DEADLINE:
            raise Broken(f"{promise}: not within {DEADLINE} s")
        time.sleep(pause)
    return time.monotonic() - began


# MARK: the database

PSQL = [os.environ["PSQL"], "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]


def sql(statement):
    """The statement's output, run as superuser."""
    done = subprocess.run(PSQL + ["-c", statement], capture_output=True, text=True)
    if done.returncode:
        raise Broken(f"the database answers: {' '.join(done.stderr.split())}")
    return done.stdout.strip()


# Remembers when a notification was first recorded as sent, whatever the server does to its row later.
RECORDS = """
CREATE SCHEMA test;
CREATE TABLE test.records (id uuid PRIMARY KEY, at timestamptz NOT NULL);
CREATE FUNCTION test.remember() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO test.records VALUES (NEW.id, clock_timestamp()) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER remember AFTER UPDATE ON deliveries FOR EACH ROW WHEN (NEW.status = 'sent') EXECUTE FUNCTION test.remember()"""


# Waits for a round that takes longer than looking for due steps does, and names the instance whose session holds its lock.
LEADER = """
CREATE FUNCTION pg_temp.leader() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    holder integer;
    again integer;
BEGIN
    LOOP
        again := holder;
        SELECT pid INTO holder FROM pg_locks WHERE locktype = 'advisory' AND granted
            AND classid = (7239410025 >> 32)::oid AND objid = (7239410025 & 4294967295)::oid;
        IF holder = again THEN
            PERFORM pg_stat_clear_snapshot();
            RETURN (SELECT application_name FROM pg_stat_activity WHERE pid = holder);
        END IF;
        PERFORM pg_sleep(0.002);
    END LOOP;
END $$"""


@contextlib.contextmanager
def leader():
    """The name of the instance that leads a round now; psql ends afterwards, so that no time is lost."""
    commands = ["-c", "SET statement_timeout = '60s'", "-c", LEADER, "-c", "SELECT pg_temp.leader()"]
    with subprocess.Popen(PSQL + commands, stdout=subprocess.PIPE, text=True) as psql:
        name = psql.stdout.readline().strip()
        if not name:
            raise Broken("no instance takes steps")
        yield name


def restart_database():
    if subprocess.run(["bash", "-c", "restart_database"]).returncode:
        raise Broken("the database did not start again")


# MARK: the servers

class Instance:
    """One server: always on the same port, with a checkpoint file and a log of its own."""

    def __init__(self, name, port, metrics_port, webhook):
        self.name, self.port, self.metrics_port = name, port, metrics_port
        # A server dies with this process, however that ends.
        self.command = [
            "setpriv", "--pdeathsig", "KILL", os.environ["NAGZ_PROGRAM"], "serve", "--host", "127.0.0.1", "--port", str(port),
            "--metrics", f"127.0.0.1:{metrics_port}", "--rate-limits", "off", "--log", "warning",
            "--escalation", ESCALATION, "--push", f"http://127.0.0.1:{webhook}/push", "--delivery-networks", "127.0.0.1"]
        # The logins of the owner and the superuser are not for the server.
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith("PG") and key != "NAGZ_OWNER_DATABASE_URL"} | {
            "DATABASE_URL": f"{os.environ['DATABASE_URL']}?application_name={name}",
            "NAGZ_AUDIT_CHECKPOINT_FILE": str(SCRATCH / f"checkpoint-{name}")}
        self.process = None

    def start(self):
        with open(LOGS / f"kills-{self.name}.log", "a") as log:
            self.process = subprocess.Popen(self.command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self):
        """Returns when that was, by the clock of the machine."""
        now = time.time()
        self.process.kill()
        self.process.wait()
        return now

    def stop(self):
        self.process.terminate()
        try:
            status = self.process.wait(15)
        except subprocess.TimeoutExpired:
            raise Broken(f"instance {self.name} did not stop within 15 s") from None
        if status:
            raise Broken(f"instance {self.name} stopped with status {status}: see {LOGS}/kills-{self.name}.log")

    def request(self, method, path, body=None, headers=None, port=None):
        """The status and the body."""
        return request(port or self.port, method, path, body, headers)

    def metric(self, name):
        """None while the instance does not answer."""
        try:
            _, text = self.request("GET", "/metrics", port=self.metrics_port)
        except (OSError, http.client.HTTPException):
            return None
        return next((float(line.split()[1]) for line in text.decode().splitlines() if line.startswith(name + " ")), None)

    @property
    def steps(self):
        return self.metric("nagz_scheduler_steps_total") or 0

    def works(self):
        """Whether it is ready and its scheduler has had a turn."""
        try:
            status, _ = self.request("GET", "/health/ready")
        except (OSError, http.client.HTTPException):
            status = None
        if self.process.poll() is not None:
            raise Broken(f"instance {self.name} ended by itself: see {LOGS}/kills-{self.name}.log")
        return status == 200 and self.metric("nagz_scheduler_leading") == 1


# MARK: the receiver

class Receiver(Webhook):
    """A push service: remembers when it got each message, and takes a moment to acknowledge it."""

    def __init__(self, port):
        secret = pathlib.Path(os.environ["NAGZ_WEBHOOK_SECRET_FILE"]).read_bytes().strip()
        super().__init__(port, secret)
        self.receipts = {}

    def accept(self, headers, body):
        super().accept(headers, body)
        time.sleep(ANSWER_TIME)

    def received(self, message):
        self.receipts.setdefault(message["delivery_id"], []).append(time.time())


# MARK: the kills

class Test:
    """Everything that runs, and what was seen."""

    def __init__(self, counts):
        self.kinds = [kind for kind, count in counts.items() for _ in range(count)]
        self.random = random.Random(1)
        self.random.shuffle(self.kinds)
        webhook, *ports = PORTS
        self.receiver = Receiver(webhook)
        self.instances = {name: Instance(name, ports.pop(), ports.pop(), webhook) for name in ("one", "two")}
        self.households = [Household(self.instances.values()) for _ in range(HOUSEHOLDS)]
        self.deaths, self.takeovers, self.recoveries = [], [], []

    def start(self):
        for each in self.instances.values():
            each.start()
        for each in self.instances.values():
            eventually(each.works, f"instance {each.name} works")

    def stop(self):
        for each in self.instances.values():
            each.stop()

    def end(self):
        """Leaves nothing running, whatever happened."""
        for each in self.instances.values():
            if each.process and each.process.poll() is None:
                each.kill()

    def next_step(self, instances):
        """The seconds until one of the instances takes another step."""
        before = {each: each.steps for each in instances}
        return eventually(lambda: self.load_runs() and any(each.steps > before[each] for each in instances),
                          "another step is taken")

    def load_runs(self):
        for each in self.households:
            if each.fault:
                raise each.fault
        return True

    def kill(self, kind):
        instances = list(self.instances.values())
        if kind == "databases":
            restart_database()
            self.recoveries.append(self.next_step(instances))
        else:
            if kind == "leaders":
                with leader() as name:
                    victim = self.instances[name]
                    self.deaths.append(victim.kill())
                self.takeovers.append(self.next_step([each for each in instances if each is not victim]))
            else:
                victim = self.random.choice(instances)
                self.deaths.append(victim.kill())
            victim.start()
        for each in instances:
            eventually(each.works, f"instance {each.name} works")

    def run(self):
        sql(RECORDS)
        self.start()
        for each in self.households:
            each.start()
        self.next_step(list(self.instances.values()))
        for number, kind in enumerate(self.kinds, 1):
            self.kill(kind)
            print(f"killed {number} of {len(self.kinds)}", flush=True)
        for each in self.households:
            each.over.set()
        for each in self.households:
            each.join(2 * DEADLINE)
        self.load_runs()
        eventually(lambda: sql("SELECT count(*) FROM nags WHERE status = 'open'") == "0", "every nag ends", pause=0.2)
        # What a dead process had taken is its own for five minutes. Nobody has anything now, so they may be over.
        self.stop()
        left = int(sql("WITH x AS (UPDATE deliveries SET next_attempt = now() WHERE next_attempt IS NOT NULL RETURNING 1) "
                       "SELECT count(*) FROM x"))
        self.start()
        eventually(lambda: sql("SELECT count(*) FROM deliveries WHERE next_attempt IS NOT NULL") == "0",
                   "no notification is pending", pause=0.2)
        self.stop()
        return self.judge(left)

    # MARK: the figures

    def cause(self, first, again, recorded):
        """Why a message came again: after its receipt was recorded, because the process died before that, or neither."""
        if again > recorded:
            return "doubled"
        died = any(first - 1 < death < min(again, first + UNRECORDED) for death in self.deaths)
        return "repeated_after_death" if died else "repeated_for_no_reason"

    def judge(self, left):
        """The figures, and what they break."""
        found = json.loads(sql((HERE / "kills.sql").read_text()))
        sql("DROP SCHEMA test CASCADE")  # the audit log rightly explains no trigger of ours
        nags, known, sent = set(found.pop("nags")), set(found.pop("known")), found.pop("sent")
        created = set().union(*(each.created for each in self.households))
        done = set().union(*(each.done for each in self.households))
        receipts = self.receiver.receipts
        repeats = collections.Counter(
            self.cause(first, again, sent.get(name, math.inf))
            for name, moments in receipts.items() for first, again in itertools.pairwise(moments))
        figures = {kind: self.kinds.count(kind) for kind in ("leaders", "servers", "databases")} | {
            "nags": len(nags), "requests_repeated": sum(each.again for each in self.households),
            "nags_lost": len(created - nags), "nags_doubled": len(nags - created)} | found | {
            "sent": len(sent), "sent_and_not_received": len(set(sent) - set(receipts)),
            "received_and_unknown": len(set(receipts) - known), "left_by_the_dead": left} | {
            name: repeats[name] for name in ("doubled", "repeated_after_death", "repeated_for_no_reason")} | {
            "wrong_signatures": len(self.receiver.faults),
            "takeover_max_s": round(max(self.takeovers, default=0), 2),
            "recovery_max_s": round(max(self.recoveries, default=0), 2)}
        promises = {
            "a nag that was created is there, once": ("nags_lost", "nags_doubled"),
            "each step of a nag is taken once": ("steps_lost", "steps_doubled"),
            "each step has one audit entry": ("entries_lost", "entries_doubled"),
            "each step intends one notification": ("deliveries_not_intended", "deliveries_intended_twice"),
            "each notification is sent, or not needed any more": (
                "pending", "ended_without_reason", "records_changed", "sent_and_not_received", "received_and_unknown"),
            "a notification comes once, unless the process died before it was recorded": ("doubled", "repeated_for_no_reason"),
            "notifications are signed": ("wrong_signatures",),
        }
        broken = [f"{promise}: {' and '.join(f'{name} is {figures[name]}' for name in names if figures[name])}"
                  for promise, names in promises.items() if any(figures[name] for name in names)]
        if figures["completed"] != len(done):
            broken.append(f"what the child did is done: {len(done)} nags were, {figures['completed']} are")
        if max(figures["takeover_max_s"], figures["recovery_max_s"]) > TAKEOVER:
            broken.append(f"the next step is taken within {TAKEOVER} s")
        if 2 * figures["missed"] < len(self.kinds) or figures["sent"] < len(self.kinds):
            broken.append("there is enough load to prove something")
        return figures, broken


def main():
    options = argparse.ArgumentParser()
    for name in ("leaders", "servers", "databases"):
        options.add_argument(f"--{name}", type=int, required=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    test = Test(vars(options.parse_args()))
    try:
        figures, broken = test.run()
    except Broken as broken:
        sys.exit(f"a promise was broken: {broken}")
    finally:
        test.end()
    print(json.dumps(figures))
    if broken:
        sys.exit("a promise was broken: " + "; ".join(broken))


main()
