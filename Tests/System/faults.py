"""Writes to a server as fast as some clients can, until standard input ends; then prints what came of it as JSON: faults.py
[CLIENTS [SOCKETS]], eight clients and no WebSockets unless told.

A line on standard input says that the server can serve again: the time to the next success is a recovery. A WebSocket that the server
closes is opened again; the close codes are counted.
"""
import collections
import http.client
import json
import os
import pathlib
import sys
import threading
import time
import urllib.parse

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Benchmarks"))
from crowd import open_socket

ADDRESS = urllib.parse.urlsplit(os.environ["NAGZ"]).netloc
BODY = json.dumps({"nag_id": os.environ["NAG"]})
FIELDS = {"Authorization": f"Bearer {os.environ['TOKEN']}", "Content-Type": "application/json"}
CLIENTS, SOCKETS = (int(given) for given in (sys.argv[1:] + ["8", "0"][len(sys.argv) - 1:]))

lock = threading.Lock()
over = threading.Event()
acknowledged, in_doubt, longest, longest_refusal = 0, 0, 0.0, 0.0
unexpected, close_codes = collections.Counter(), collections.Counter()
accepting_since, recoveries = None, []


def write(connection):
    """The status; a refusal without Retry-After is none that a client can act on."""
    connection.request("POST", "/api/v1/ai/select-tone", BODY, FIELDS)
    answer = connection.getresponse()
    answer.read()
    if answer.status == 503 and not answer.getheader("Retry-After"):
        return "503 without Retry-After"
    return answer.status


def client():
    global acknowledged, in_doubt, longest, longest_refusal, accepting_since
    connection = http.client.HTTPConnection(ADDRESS, timeout=10)
    while not over.is_set():
        began, is_new = time.monotonic(), connection.sock is None
        try:
            status = write(connection)
        except (OSError, http.client.HTTPException) as fault:
            connection.close()
            status = type(fault).__name__
            # So the kernel ends connections that the server had not accepted when it stopped to listen.
            if is_new and status == "ConnectionResetError":
                status = "NewConnectionReset"
        now = time.monotonic()
        with lock:
            longest = max(longest, now - began)
            if status == 201:
                acknowledged += 1
                # Only what was asked after the server could serve tells of a recovery.
                if accepting_since is not None and began >= accepting_since:
                    recoveries.append(now - accepting_since)
                    accepting_since = None
            elif status == 503:
                in_doubt += 1
                longest_refusal = max(longest_refusal, now - began)
            else:
                unexpected[str(status)] += 1
        if status != 201:
            time.sleep(0.02)


def listen(number):
    """One browser's WebSocket after the other."""
    while not over.is_set():
        try:
            connection = open_socket(
                os.environ["NAGZ"], os.environ["TOKEN"], os.environ["FAMILY"], f"127.0.1.{1 + number}", os.environ["ORIGIN"])
        except (OSError, AssertionError):
            time.sleep(0.05)  # the server is not there
            continue
        connection.settimeout(0.2)
        code = None
        while code is None and not over.is_set():
            try:
                received = connection.recv(65536)
            except TimeoutError:
                continue
            except OSError as fault:
                received, code = b"", type(fault).__name__
            # The close frame is the last one: two bytes of frame, two of code.
            if len(received) >= 4 and received[-4:-2] == b"\x88\x02":
                code = int.from_bytes(received[-2:], "big")
            elif not received:
                code = code or "closed without a frame"
        connection.close()
        if code is not None:
            with lock:
                close_codes[str(code)] += 1


threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
threads += [threading.Thread(target=listen, args=(number,)) for number in range(SOCKETS)]
for each in threads:
    each.start()
for _ in sys.stdin:
    with lock:
        accepting_since = time.monotonic()
over.set()
for each in threads:
    each.join()
print(json.dumps({
    "acknowledged": acknowledged, "in_doubt": in_doubt, "unexpected": unexpected, "close_codes": close_codes,
    "longest_wait_s": round(longest, 3), "longest_refusal_s": round(longest_refusal, 3),
    "recoveries_s": [round(each, 3) for each in recoveries],
}))
