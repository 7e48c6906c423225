"""Fails the primary of three PostgreSQL nodes over, again and again, under a load of acknowledged writes: ha.py TIMES.

Each node has a network namespace with PostgreSQL, Patroni and etcd by the recipes of deploy/ha; HAProxy and two instances of the
server are outside. The faults take turns: a switchover; PostgreSQL and Patroni killed; both stopped for longer than their lease;
and the primary cut off from the other nodes, but not from HAProxy. After each, every acknowledged write must be there and the audit
log must explain every row. Prints a line for each, then the figures as JSON; a broken promise is a sentence and status 1.
"""
import itertools
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request

NODES = {"one": "10.0.0.1", "two": "10.0.0.2", "three": "10.0.0.3"}
NOWHERE = "02:00:00:00:00:99"  # an address that no interface has
DEADLINE = 120  # seconds that a failover or a return may take
STEADY = 3  # seconds of load between two faults
REFUSED = {"503"}  # what an instance may answer while it has no primary

SCRATCH = pathlib.Path(os.environ["SCRATCH"])
PREFIX = os.environ["PREFIX"]  # of the namespaces
LOGS = pathlib.Path(os.environ["LOGS"])
WRITES = SCRATCH / "writes"


class Broken(Exception):
    """A promise that was not kept."""


def eventually(condition, promise):
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise Broken(f"{promise}: not within {DEADLINE} s; {cluster()}")
        time.sleep(0.2)


# MARK: nodes

def inside(node, *command):
    return ["ip", "netns", "exec", PREFIX + node, *command]


def start(node, program, *arguments, environment=None):
    without_psql = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    with (LOGS / f"ha-{program}-{node}.log").open("a") as log:
        subprocess.Popen(
            inside(node, "runuser", "-u", "postgres", "--", program, *arguments), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env=without_psql | (environment or {}), cwd="/", start_new_session=True)


def start_patroni(node):
    start(node, "patroni", str(SCRATCH / node / "patroni.yml"))


def start_etcd(node):
    settings = dict(line.split("=", 1) for line in (SCRATCH / node / "etcd").read_text().splitlines() if line.startswith("ETCD_"))
    start(node, "etcd", "--data-dir", str(SCRATCH / node / "etcd-data"), environment=settings)


def processes(node):
    """Those of PostgreSQL and Patroni there."""
    found = subprocess.run(["ip", "netns", "pids", PREFIX + node], capture_output=True, text=True).stdout.split()
    for pid in map(int, found):
        try:
            if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() != "etcd":
                yield pid
        except OSError:
            pass


def send(node, number):
    for pid in list(processes(node)):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def cluster():
    """Each member's role and state, as the first Patroni that answers says; empty where none does."""
    for address in NODES.values():
        try:
            with urllib.request.urlopen(f"http://{address}:8008/cluster", timeout=2) as answer:
                return {each["name"]: (each["role"], each["state"]) for each in json.load(answer)["members"]}
        except (OSError, urllib.error.HTTPError, ValueError, KeyError):
            pass
    return {}


def primary():
    """The node whose Patroni says that it is the primary, or None."""
    for node, address in NODES.items():
        try:
            with urllib.request.urlopen(f"http://{address}:8008/primary", timeout=1) as answer:
                if answer.status == 200:
                    return node
        except OSError:
            pass
    return None


def is_whole():
    """Whether there is a primary, and both others follow it, one of them synchronously."""
    roles = cluster()
    return sorted(role for role, _ in roles.values()) == ["leader", "replica", "sync_standby"] and all(
        state in ("running", "streaming") for _, state in roles.values())


def psql(statement):
    """What the primary answers; nothing where there is none."""
    try:
        done = subprocess.run(["psql", "-X", "-A", "-t", "-c", statement], capture_output=True, text=True, timeout=30)
    except subprocess.TimeoutExpired:
        return []
    return done.stdout.split() if done.returncode == 0 else []


def is_replicated():
    """The same, and both others get its WAL: a node that just came back may look like a standby before it is one."""
    counts = psql("SELECT count(*) || '/' || count(*) FILTER (WHERE sync_state = 'sync') FROM pg_stat_replication WHERE state = 'streaming'")
    return counts == ["2/1"] and is_whole()


# MARK: faults, each with what ends it

def switch_over(node):
    done = subprocess.run(
        ["patronictl", "-c", str(SCRATCH / node / "patroni.yml"), "switchover", "nagz", "--master", node, "--force"],
        capture_output=True, text=True)
    if done.returncode or "failed" in done.stdout.lower():
        raise Broken(f"patronictl switchover: {done.stdout} {done.stderr}")
    return lambda: None


def kill(node):
    send(node, signal.SIGKILL)
    return lambda: start_patroni(node)


def stop(node):
    send(node, signal.SIGSTOP)
    return lambda: send(node, signal.SIGCONT)


def cut_off(node):
    """No packet goes between this node and the other two any more."""
    others = [each for each in NODES if each != node]
    pairs = [(node, each) for each in others] + [(each, node) for each in others]
    for here, there in pairs:
        subprocess.run(inside(here, "ip", "neigh", "replace", NODES[there], "lladdr", NOWHERE, "dev", "e0", "nud", "permanent"), check=True)

    def heal():
        for here, there in pairs:
            subprocess.run(inside(here, "ip", "neigh", "del", NODES[there], "dev", "e0"), check=True)
    return heal


FAULTS = {"switchover": switch_over, "killed": kill, "stopped": stop, "cut off": cut_off}


# MARK: what was written

def requests():
    """When each request began and ended, its status, method and trace."""
    with WRITES.open() as file:
        for line in file:
            if line.endswith("\n"):
                began, ended, status, method, trace = line.split()
                yield float(began), float(ended), status, method, trace


def acknowledged_since(moment):
    return any(began > moment and status in ("200", "201") and method != "GET" for began, _, status, method, _ in requests())


def unavailable(since):
    """The longest time without an acknowledged write, from then on."""
    ends = [ended for _, ended, status, method, _ in requests() if ended > since and status == "201" and method == "POST"]
    return max(later - earlier for earlier, later in itertools.pairwise([since, *ends]))


def audit_log_is_current():
    """Whether both instances sign the log that the new primary has."""
    try:
        for port in (9801, 9802):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health/ready", timeout=5) as answer:
                if json.load(answer)["audit_log"] != "current":
                    return False
        return True
    except OSError:
        return False


def check(fault):
    eventually(audit_log_is_current, f"{fault}: both instances go on with the audit log")
    written = [(status, trace) for _, _, status, method, trace in requests() if method == "POST"]
    there = set(psql("SELECT trace_id FROM ai_executions"))
    if not there:
        raise Broken(f"{fault}: the primary does not answer")
    acknowledged = {trace for status, trace in written if status == "201"}
    if lost := acknowledged - there:
        raise Broken(f"{fault}: {len(lost)} acknowledged writes are lost, such as {sorted(lost)[0]}")
    unexpected = {status for _, _, status, _, _ in requests()} - {"200", "201"} - REFUSED
    if unexpected:
        raise Broken(f"{fault}: requests ended with {sorted(unexpected)}")
    done = subprocess.run([os.environ["NAGZ_PROGRAM"], "audit", "reconcile"], capture_output=True, text=True)
    if done.returncode:
        raise Broken(f"{fault}: nagz audit reconcile says: {done.stdout} {done.stderr}")
    refused = sum(status == "503" for _, _, status, _, _ in requests())
    in_doubt = there & {trace for status, trace in written if status == "503"}
    return len(acknowledged), refused, len(in_doubt)


def fail_over(name):
    before = primary()
    since = time.time()
    heal = FAULTS[name](before)
    eventually(lambda: primary() not in (None, before), f"{name}: another node becomes the primary")
    elected = time.time()
    eventually(lambda: acknowledged_since(elected), f"{name}: writes are acknowledged again")
    time.sleep(STEADY)
    check(name)
    heal()
    eventually(is_replicated, f"{name}: {before} comes back")
    time.sleep(STEADY)
    gap = unavailable(since)
    acknowledged, refused, in_doubt = check(name)
    print(f"ok      {name}: {before} to {primary()}, {gap:.1f} s without a write; {acknowledged} acknowledged and none lost, "
          f"{refused} requests answered with 503, of which {in_doubt} have written", flush=True)
    return gap


def main():
    times = int(sys.argv[1])
    gaps = {name: [] for name in FAULTS}
    for number, name in zip(range(times), itertools.cycle(FAULTS)):
        gaps[name].append(fail_over(name))
    longest = max(ended - began for began, ended, *_ in requests())
    figures = {name: {"median_s": round(statistics.median(each), 1), "worst_s": round(max(each), 1)} for name, each in gaps.items() if each}
    everything = [gap for each in gaps.values() for gap in each]
    print(json.dumps({
        "failovers": times, "lost": 0, "median_s": round(statistics.median(everything), 1), "worst_s": round(max(everything), 1),
        "longest_request_s": round(longest, 1), "by_fault": figures}))


if __name__ == "__main__":
    try:
        if sys.argv[1] == "start":
            for each in NODES:
                start_etcd(each)
            for each in NODES:
                start_patroni(each)
            eventually(is_whole, "three nodes form a cluster")
        else:
            main()
    except Broken as fault:
        sys.exit(str(fault))
