"""Families that write through one or several instances of a server until standard input ends: writes.py FILE URL...

Each request is a line of FILE: when it began and ended (seconds since 1970), its status or fault, its method, and its trace id.
A `POST` that was answered with 201 has left a row of `ai_executions` with that trace id. Each family also counts in its name, and
reads it back: a name that is older than the last acknowledged one has the status `lost`. No request is sent again. Prints how
many requests were answered with what, as JSON.
"""
import collections
import http.client
import itertools
import json
import pathlib
import sys
import threading
import time
import urllib.parse
import uuid
from datetime import datetime, timedelta, timezone

FAMILIES = 4
PAUSE = 0.02  # seconds between the rounds of a family
AFTER_FAULT = 0.05
TIMEOUT = 20

lock = threading.Lock()
over = threading.Event()
counts = collections.Counter()


class Family(threading.Thread):
    def __init__(self, record, addresses):
        super().__init__()
        self.record, self.addresses = record, itertools.cycle(addresses)
        self.connection = None
        self.token = None
        self.acknowledged, self.in_doubt = "The Lovelaces", set()

    def ask(self, method, path, body=None):
        """The status, or the name of the fault, and the answer."""
        trace = uuid.uuid4()
        headers = {"Content-Type": "application/json", "traceparent": f"00-{trace.hex}-{trace.hex[:16]}-01"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        answer, began = None, time.time()
        try:
            if not self.connection:
                self.connection = http.client.HTTPConnection(next(self.addresses), timeout=TIMEOUT)
            self.connection.request(method, "/api/v1" + path, body and json.dumps(body), headers)
            response = self.connection.getresponse()
            content, status = response.read(), response.status
            answer = json.loads(content) if status < 300 else None
        except (OSError, http.client.HTTPException) as fault:
            status = type(fault).__name__
        if answer is None and self.connection:
            self.connection.close()
            self.connection = None
        self.note(method, status, trace, began)
        return status, answer

    def note(self, method, status, trace, began):
        with lock:
            counts[f"{method} {status}"] += 1
            self.record.write(f"{began:.6f} {time.time():.6f} {status} {method} {trace}\n")

    def create(self, path, body):
        status, answer = self.ask("POST", path, body)
        if status != 201:
            sys.exit(f"{path}: answered {status} before anything was tried")
        return answer

    def set_up(self):
        self.token = self.create("/auth/signup", {
            "email": f"{uuid.uuid4()}@example.com", "password": "a long passphrase", "display_name": "Ada"})["access_token"]
        self.home = self.create("/families", {"name": self.acknowledged})["family_id"]
        for consent in ("child_account_creation", "ai_mediation"):
            self.create("/consents", {"family_id": self.home, "consent_type": consent})
        child = self.create(f"/families/{self.home}/members/create", {
            "display_name": "Ben", "role": "child", "username": "ben", "pin": "4821"})["user_id"]
        self.nag = self.create("/nags", {
            "family_id": self.home, "recipient_id": child, "description": "Feed the fish", "category": "chores",
            "done_definition": "ack_only", "due_at": (datetime.now(timezone.utc) + timedelta(days=1)).isoformat()})["id"]

    def run(self):
        for number in itertools.count(1):
            if over.is_set():
                return
            answered = self.write(f"The Lovelaces {number}") and self.ask("POST", "/ai/select-tone", {"nag_id": self.nag})[1]
            time.sleep(PAUSE if answered else AFTER_FAULT)

    def write(self, name):
        """Reads the family's name and writes the next one; whether both were answered."""
        began = time.time()
        answer = self.ask("GET", f"/families/{self.home}")[1]
        if not answer:
            return False
        if answer["name"] != self.acknowledged and answer["name"] not in self.in_doubt:
            self.note("GET", "lost", uuid.UUID(int=0), began)
        self.acknowledged = answer["name"]
        answer = self.ask("PATCH", f"/families/{self.home}", {"name": name})[1]
        if answer:
            self.acknowledged, self.in_doubt = name, set()
        else:
            self.in_doubt.add(name)
        return bool(answer)


def main():
    addresses = [urllib.parse.urlsplit(each).netloc for each in sys.argv[2:]]
    with pathlib.Path(sys.argv[1]).open("w", buffering=1) as record:
        families = [Family(record, addresses[number % len(addresses):] + addresses[:number % len(addresses)])
                    for number in range(FAMILIES)]
        for family in families:
            family.set_up()
        counts.clear()
        record.truncate(0)
        record.seek(0)
        print("ready", flush=True)
        for family in families:
            family.start()
        sys.stdin.read()
        over.set()
        for family in families:
            family.join()
    print(json.dumps(counts, sort_keys=True))


if __name__ == "__main__":
    main()
