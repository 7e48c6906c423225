"""Families that create nags through several instances of a server, as long as they are told to."""
import http.client
import itertools
import json
import threading
import time
import uuid
from datetime import datetime, timedelta, timezone

UNTIL_DUE = 3  # seconds from a nag's creation to its due time
NAGS = 8  # of one family; more than its guardian may create in a day are refused
INTERVAL = 0.8  # seconds from one nag of a family to the next
DEADLINE = 60  # seconds that anything may take


class Broken(Exception):
    """A promise that was not kept."""


class Household(threading.Thread):
    """One family after the other, in which a guardian nags a child."""

    def __init__(self, instances):
        super().__init__(daemon=True)
        self.instances = itertools.cycle(instances)
        self.over = threading.Event()
        self.created, self.done, self.again = set(), set(), 0
        self.fault = None

    def run(self):
        try:
            while not self.over.is_set():
                self.play()
        except Exception as fault:  # raised again by the main thread
            self.fault = fault

    def play(self):
        token = self.ask("/auth/signup", lambda: {
            "email": f"{uuid.uuid4()}@example.com", "password": "a long passphrase", "display_name": "Ada"})["access_token"]
        # By the family's clock it is about noon: no quiet hours, and no day ends.
        zone = f"Etc/GMT{datetime.now(timezone.utc).hour - 12:+d}"
        family = self.ask("/families", {"name": "The Lovelaces", "time_zone": zone}, token)
        home = family["family_id"]
        self.ask("/consents", {"family_id": home, "consent_type": "child_account_creation"}, token)
        child = self.ask(f"/families/{home}/members/create", {
            "display_name": "Ben", "role": "child", "username": "ben", "pin": "4821"}, token)["user_id"]
        childs_token = self.ask("/auth/child-login", {
            "family_code": family["child_code"], "username": "ben", "pin": "4821"}, wanted=200)["access_token"]
        for each in (token, childs_token):
            self.ask("/devices", {"platform": "ios", "token": str(uuid.uuid4())}, each)
        for number in range(NAGS):
            if self.over.wait(INTERVAL):
                return
            nag = self.ask("/nags", {
                "family_id": home, "recipient_id": child, "description": f"Feed fish {number}", "category": "chores",
                "done_definition": "ack_only", "due_at": soon(UNTIL_DUE)}, token)["id"]
            self.created.add(nag)
            if number % 2 == 0:
                self.ask(f"/nags/{nag}/status", {"status": "completed"}, childs_token, wanted=200)
                self.done.add(nag)

    def ask(self, path, body, token=None, wanted=201):
        """Posts to the instances in turn until one answers, with one Idempotency-Key.

        Without a session there are no such keys, so each attempt has a body of its own where `body` is a function.
        """
        headers = {"Content-Type": "application/json"}
        if token:
            headers |= {"Authorization": f"Bearer {token}", "Idempotency-Key": str(uuid.uuid4())}
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            try:
                content = json.dumps(body() if callable(body) else body)
                status, answer = next(self.instances).request("POST", "/api/v1" + path, content, headers)
            except (OSError, http.client.HTTPException):
                status = 503
            if status == wanted:
                return json.loads(answer)
            if status != 503:
                raise Broken(f"{path}: wanted {wanted}, found {status} {answer.decode(errors='replace'):.300}")
            self.again += 1
            time.sleep(0.05)
        raise Broken(f"{path}: no instance answered within {DEADLINE} s")


def request(port, method, path, body=None, headers=None):
    """The status and the body of what a server on this machine answers, on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def soon(seconds):
    moment = datetime.now(timezone.utc) + timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
