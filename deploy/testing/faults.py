"""Writes to a server as fast as eight clients can, until standard input ends; then prints what came of it as JSON.

A line on standard input says that the database accepts sessions again: the time to the next success is a recovery.
"""
import http.client
import json
import os
import sys
import threading
import time
import urllib.parse

ADDRESS = urllib.parse.urlsplit(os.environ["NAGZ"]).netloc
BODY = json.dumps({"nag_id": os.environ["NAG"]})
FIELDS = {"Authorization": f"Bearer {os.environ['TOKEN']}", "Content-Type": "application/json"}

lock = threading.Lock()
over = threading.Event()
acknowledged, in_doubt, longest, unexpected = 0, 0, 0.0, {}
accepting_since, recoveries = None, []


def write(connection):
    connection.request("POST", "/api/v1/ai/select-tone", BODY, FIELDS)
    answer = connection.getresponse()
    answer.read()
    return answer.status


def client():
    global acknowledged, in_doubt, longest, accepting_since
    connection = http.client.HTTPConnection(ADDRESS, timeout=10)
    while not over.is_set():
        began = time.monotonic()
        try:
            status = write(connection)
        except (OSError, http.client.HTTPException) as fault:
            connection.close()
            status = type(fault).__name__
        now = time.monotonic()
        with lock:
            longest = max(longest, now - began)
            if status == 201:
                acknowledged += 1
                # Only what was asked after the database accepted tells of a recovery.
                if accepting_since is not None and began >= accepting_since:
                    recoveries.append(now - accepting_since)
                    accepting_since = None
            elif status == 503:
                in_doubt += 1
            else:
                unexpected[str(status)] = unexpected.get(str(status), 0) + 1
        if status != 201:
            time.sleep(0.02)


clients = [threading.Thread(target=client) for _ in range(8)]
for each in clients:
    each.start()
for _ in sys.stdin:
    with lock:
        accepting_since = time.monotonic()
over.set()
for each in clients:
    each.join()
print(json.dumps({
    "acknowledged": acknowledged, "in_doubt": in_doubt, "unexpected": unexpected,
    "longest_wait_s": round(longest, 3), "recoveries_s": [round(each, 3) for each in recoveries],
}))
