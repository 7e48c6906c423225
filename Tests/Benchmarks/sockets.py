"""Measures realtime: python3 sockets.py URL-A URL-B PID-B COUNT TARGETS, with two instances over one database and
--rate-limits off. TARGETS has a token and its family at the start of each line, as `nagz seed bench` writes it.

Prints as JSON: the time from the answer of a write on A to its frame at a socket of B; frames of a burst of 540 writes;
memory of B for each of COUNT idle sockets, and reads of the feed beside them.
Sockets come from 127.0.1.x, so that no address has too many.
"""
import http.client
import json
import os
import struct
import sys
import threading
import time
import urllib.parse

import machine
from crowd import Crowd, open_socket

A, B, PID, COUNT, TARGETS = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]


def frames(connection):
    """Yields (arrival, event); ends when nothing comes for a while."""
    rest = b""
    while True:
        while len(rest) >= 2:
            start, size = (4, struct.unpack(">H", rest[2:4])[0]) if rest[1] == 126 else (2, rest[1])
            if len(rest) < start + size:
                break
            opcode, payload, rest = rest[0] & 15, rest[start:start + size], rest[start + size:]
            assert opcode != 8, f"closed with {payload!r}"
            if opcode == 9:
                connection.sendall(bytes([0x8A, 0x80 | len(payload), 0, 0, 0, 0]) + payload)
            if opcode == 1:
                yield time.monotonic(), json.loads(payload)
        try:
            more = connection.recv(65536)
        except TimeoutError:
            return
        if not more:
            return
        rest += more


def progress(words):
    print(words, file=sys.stderr, flush=True)


class Client:
    def __init__(self, url, token=None):
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=30)
        self.fields = {"Content-Type": "application/json"}
        if token:
            self.fields["Authorization"] = f"Bearer {token}"

    def call(self, method, path, body=None):
        self.connection.request(method, path, json.dumps(body) if body is not None else None, self.fields)
        answer = self.connection.getresponse()
        content = answer.read()
        assert answer.status < 300, content
        return json.loads(content) if content else None


class Family:
    """A guardian and six children, each with a nag."""

    def __init__(self):
        guest = Client(A)
        self.token = guest.call("POST", "/api/v1/auth/signup", {
            "email": "bench.sockets@example.com", "password": "bench sockets passphrase", "display_name": "Ada"})["access_token"]
        guardian = Client(A, self.token)
        family = guardian.call("POST", "/api/v1/families", {"name": "Seven"})
        self.id = family["family_id"]
        guardian.call("POST", "/api/v1/consents", {"family_id": self.id, "consent_type": "child_account_creation"})
        due = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 36_000))
        self.nags = []
        for name in ["ben", "cleo", "dan", "eve", "fay", "gus"]:
            child = guardian.call("POST", f"/api/v1/families/{self.id}/members/create", {
                "display_name": name, "role": "child", "username": name, "pin": "4821"})
            token = guest.call("POST", "/api/v1/auth/child-login", {
                "family_code": family["child_code"], "username": name, "pin": "4821"})["access_token"]
            nag = guardian.call("POST", "/api/v1/nags", {
                "family_id": self.id, "recipient_id": child["user_id"], "due_at": due, "category": "chores",
                "done_definition": "ack_only"})
            self.nags.append((token, nag["id"]))


def latency(family):
    token, nag = family.nags[0]
    child = Client(A, token)
    connection = open_socket(B, family.token, family.id)
    arrivals, times = frames(connection), []
    for number in range(100):
        child.call("POST", f"/api/v1/nags/{nag}/{'dismiss' if number % 2 == 0 else 'undismiss'}")
        answered = time.monotonic()
        arrived, _ = next(arrivals)
        times.append(max(0.0, arrived - answered))
        time.sleep(0.25)
    times.sort()
    connection.close()
    return {"p50_ms": round(times[50] * 1e3, 1), "p99_ms": round(times[98] * 1e3, 1), "max_ms": round(times[-1] * 1e3, 1)}


def burst(family):
    """About 500 writes as fast as the children can: each dismisses their nag and brings it back."""
    connection = open_socket(B, family.token, family.id)
    connection.settimeout(2)
    began = time.monotonic()

    def write(token, nag):
        client = Client(A, token)
        for number in range(90):
            client.call("POST", f"/api/v1/nags/{nag}/{'dismiss' if number % 2 == 0 else 'undismiss'}")

    writers = [threading.Thread(target=write, args=one) for one in family.nags]
    for writer in writers:
        writer.start()
    arrivals = [arrived for arrived, _ in frames(connection)]
    ended = time.monotonic()
    for writer in writers:
        writer.join()
    connection.close()
    most = max(sum(1 for other in arrivals if arrived <= other < arrived + 1) for arrived in arrivals)
    return {"writes": 90 * len(family.nags), "seconds": round(arrivals[-1] - began, 2), "frames": len(arrivals),
            "most_in_a_second": most, "waited": round(ended - began, 1)}


def reading(family):
    """The 50th and 99th percentile of 4,000 reads of the feed by eight clients, in milliseconds."""
    times = []

    def read():
        client = Client(B, family.token)
        for _ in range(500):
            began = time.monotonic()
            client.call("GET", f"/api/v1/sync/events?family_id={family.id}&since={time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}")
            times.append(time.monotonic() - began)

    readers = [threading.Thread(target=read) for _ in range(8)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    times.sort()
    return [round(times[len(times) * part // 100] * 1e3, 2) for part in (50, 99)]


def processor_seconds():
    with open(f"/proc/{PID}/stat") as stat:
        fields = stat.read().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle(family, targets):
    progress("reading the feed")
    without = [reading(family), reading(family)][1]
    progress(f"opening {COUNT} sockets")
    before, crowd = machine.resident_bytes(PID), Crowd()
    began = time.monotonic()
    for number in range(COUNT):
        token, own = targets[number % len(targets)]
        crowd.add(open_socket(B, token, own, f"127.0.1.{1 + number % 200}"))
    opened = time.monotonic() - began
    progress(f"opened in {opened:.1f} s; they are idle")
    time.sleep(2)
    after, used = machine.resident_bytes(PID), processor_seconds()
    time.sleep(10)
    used = (processor_seconds() - used) / 10
    progress("reading the feed beside them")
    beside = reading(family)
    crowd.check()
    return {"sockets": COUNT, "bytes_each": round((after - before) / COUNT), "opened_per_second": round(COUNT / opened),
            "processors_while_idle": round(used, 4), "reads_ms_without": without, "reads_ms_beside": beside}


family = Family()
with open(TARGETS) as lines:
    targets = [line.split()[:2] for line in lines]
progress("a hundred writes on one instance, and their frames from the other")
result = {"latency": latency(family)}
progress("a burst of writes")
result["burst"] = burst(family)
result["idle"] = idle(family, targets)
beside, without = result["idle"]["reads_ms_beside"][1], result["idle"]["reads_ms_without"][1]
result["idle"]["reads_p99_ratio"] = round(beside / without, 2)
print(json.dumps(result))
