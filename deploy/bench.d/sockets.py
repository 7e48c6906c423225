"""Measures realtime: python3 sockets.py URL-A URL-B COUNT PID-B, with two instances over one database and --rate-limits off.

The environment has a guardian's TOKEN, their FAMILY, CHILD with CHILD_TOKEN, and NAGS: as JSON, the token and a nag of each
of six children. Prints as JSON: the time from the answer
of a write on A to its frame at a socket of B; frames of a burst of 500 writes; memory of B for each of COUNT idle sockets,
and reads of the feed beside them.
Sockets come from 127.0.1.x, so that no address has too many, and belong to accounts of their own (TOKENS: a file of
`token family` lines) where there are more than a person may have.
"""
import base64
import http.client
import json
import os
import socket
import struct
import sys
import threading
import time
import urllib.parse

A, B, COUNT, PID = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
TOKEN, FAMILY, CHILD, CHILD_TOKEN = (os.environ[name] for name in ["TOKEN", "FAMILY", "CHILD", "CHILD_TOKEN"])


def open_socket(url, token, family, source="127.0.0.1"):
    place = urllib.parse.urlsplit(url)
    connection = socket.create_connection((place.hostname, place.port), 30, (source, 0))
    key = base64.b64encode(os.urandom(16)).decode()
    connection.sendall(
        f"GET /api/v1/ws?token={token}&family_id={family} HTTP/1.1\r\nHost: bench\r\nConnection: Upgrade\r\n"
        f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
    head = b""
    while b"\r\n\r\n" not in head:
        head += connection.recv(4096)
    assert head.startswith(b"HTTP/1.1 101"), head[:100]
    return connection


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
            if opcode == 1:
                yield time.monotonic(), json.loads(payload)
        try:
            more = connection.recv(65536)
        except TimeoutError:
            return
        if not more:
            return
        rest += more


class Client:
    def __init__(self, url, token):
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=30)
        self.fields = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def call(self, method, path, body=None):
        self.connection.request(method, path, json.dumps(body) if body is not None else None, self.fields)
        answer = self.connection.getresponse()
        content = answer.read()
        assert answer.status < 300, content
        return json.loads(content) if content else None


def resident():
    with open(f"/proc/{PID}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) * 1024


def latency(child, nag):
    connection = open_socket(B, TOKEN, FAMILY)
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


def burst():
    """About 500 writes as fast as the children can: each dismisses their nag and brings it back."""
    connection = open_socket(B, TOKEN, FAMILY)
    connection.settimeout(2)
    nags = json.loads(os.environ["NAGS"])
    began = time.monotonic()

    def write(token, nag):
        client = Client(A, token)
        for number in range(90):
            client.call("POST", f"/api/v1/nags/{nag}/{'dismiss' if number % 2 == 0 else 'undismiss'}")

    writers = [threading.Thread(target=write, args=one) for one in nags]
    for writer in writers:
        writer.start()
    arrivals = [arrived for arrived, _ in frames(connection)]
    ended = time.monotonic()
    for writer in writers:
        writer.join()
    connection.close()
    most = max(sum(1 for other in arrivals if arrived <= other < arrived + 1) for arrived in arrivals)
    return {"writes": 90 * len(nags), "seconds": round(arrivals[-1] - began, 2), "frames": len(arrivals),
            "most_in_a_second": most, "waited": round(ended - began, 1)}


def reading():
    """The 50th and 99th percentile of 4,000 reads of the feed by eight clients, in milliseconds."""
    times = []

    def read():
        client = Client(B, TOKEN)
        for _ in range(500):
            began = time.monotonic()
            client.call("GET", f"/api/v1/sync/events?family_id={FAMILY}&since={time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}")
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


def touch(connections):
    """Sends `ping` and awaits the answer, so that the server need not ask who is there."""
    for connection in connections:
        connection.sendall(b"\x81\x84\0\0\0\0ping")
    for connection in connections:
        answer = b""
        while not answer.endswith(b'{"event":"pong"}'):
            more = connection.recv(100)
            assert more, "the server has closed a socket"
            answer += more


def idle(tokens):
    without = [reading(), reading()][1]
    before, connections = resident(), []
    began = time.monotonic()
    for number in range(COUNT):
        token, family = tokens[number % len(tokens)]
        connections.append(open_socket(B, token, family, f"127.0.1.{1 + number % 200}"))
    opened = time.monotonic() - began
    touch(connections)
    time.sleep(2)
    after, used = resident(), processor_seconds()
    time.sleep(10)
    used = (processor_seconds() - used) / 10
    touch(connections)
    beside = reading()
    touch(connections)
    for connection in connections:
        connection.close()
    return {"sockets": COUNT, "bytes_each": round((after - before) / COUNT), "opened_per_second": round(COUNT / opened),
            "processors_while_idle": round(used, 4), "reads_ms_without": without, "reads_ms_beside": beside}


result = {}
if "NAGS" in os.environ:
    result["latency"] = latency(Client(A, CHILD_TOKEN), json.loads(os.environ["NAGS"])[0][1])
    result["burst"] = burst()
if COUNT:
    with open(os.environ["TOKENS"]) as lines:
        result["idle"] = idle([line.split() for line in lines])
print(json.dumps(result))
