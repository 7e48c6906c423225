"""Plays a day of two families against a server whose escalation takes seconds, over the public API alone.

The environment names the server (NAGZ), the port of the receiver to which it posts push messages (RECEIVER_PORT), and the
file with the secret that signs them (NAGZ_WEBHOOK_SECRET_FILE). The first promise that is not kept ends it with status 1.
"""
import contextlib
import datetime
import json
import os
import pathlib
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib

import websockets
from websockets.sync.client import connect

from webhook import Webhook

NAGZ = os.environ["NAGZ"]
SECRET = pathlib.Path(os.environ["NAGZ_WEBHOOK_SECRET_FILE"]).read_bytes().strip()
DEADLINE = 60  # seconds that anything may take
UNTIL_DUE = 4  # seconds from a nag's creation to its due time, with the first phase between them
PHASES = ["phase_1_due_soon", "phase_2_overdue_soft", "phase_3_overdue_bounded_pushback", "phase_4_guardian_review"]


class Broken(Exception):
    """A promise that the server did not keep."""


def check(found, wanted, promise):
    if found != wanted:
        raise Broken(f"{promise}: wanted {wanted!r}, found {found!r}")


def eventually(read, wanted, promise):
    """Reads until the result is the one wanted."""
    end = time.monotonic() + DEADLINE
    while (found := read()) != wanted and time.monotonic() < end:
        time.sleep(0.05)
    check(found, wanted, promise)


@contextlib.contextmanager
def chapter(title):
    began = time.monotonic()
    try:
        yield
    except (Broken, OSError, websockets.WebSocketException) as broken:
        sys.exit(f"BROKEN  {title}: {broken}")
    print(f"ok      {title:<67} {time.monotonic() - began:5.1f} s", flush=True)


# MARK: people

def request(method, path, body=None, token=None, headers=()):
    """The status and the body; JSON is parsed."""
    content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    asked = urllib.request.Request(NAGZ + "/api/v1" + path, content, dict(headers), method=method)
    if isinstance(body, dict):
        asked.add_header("Content-Type", "application/json")
    if token:
        asked.add_header("Authorization", f"Bearer {token}")
    try:
        answer = urllib.request.urlopen(asked, timeout=DEADLINE)
    except urllib.error.HTTPError as refusal:
        answer = refusal
    with answer:
        content = answer.read()
        is_json = answer.headers.get_content_type() == "application/json"
        return answer.status, json.loads(content) if is_json and content else content


class Person:
    """Somebody who is signed in."""

    def __init__(self, session):
        self.token, self.id, self.name = session["access_token"], session["user"]["id"], session["user"]["display_name"]

    def ask(self, method, path, body=None, wanted=(200, 201), headers=()):
        """The body of a response with the status that is wanted."""
        status, answer = request(method, path, body, self.token, headers)
        if status not in (wanted if isinstance(wanted, tuple) else (wanted,)):
            raise Broken(f"{self.name}: {method} {path}: wanted {wanted}, found {status} {answer!r:.300}")
        return answer

    def get(self, path, wanted=200, **query):
        return self.ask("GET", path + ("?" + urllib.parse.urlencode(query) if query else ""), wanted=wanted)

    def post(self, path, wanted=(200, 201), **body):
        return self.ask("POST", path, body, wanted)

    def nag(self, recipient, description, due_at=None, wanted=201, **fields):
        return self.post(
            "/nags", wanted, recipient_id=recipient, description=description, category="chores",
            due_at=due_at or soon(hours=3), **{"done_definition": "ack_only", **fields})

    def complete(self, nag):
        check(self.post(f"/nags/{nag}/status", status="completed")["status"], "completed", "a completed nag is completed")


def soon(**span):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(**span)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def sign_up(name):
    email = f"{name.lower()}@example.com"
    status, session = request(
        "POST", "/auth/signup", {"email": email, "password": f"the passphrase of {name}", "display_name": name})
    check(status, 201, f"{name} can sign up")
    return Person(session)


def create_family(guardian, name):
    """A family whose local time is about noon, so that no day or week ends during the test."""
    hours_to_noon = 12 - datetime.datetime.now(datetime.timezone.utc).hour
    family = guardian.post("/families", name=name, time_zone=f"Etc/GMT{-hours_to_noon:+d}")
    for consent in ("child_account_creation", "ai_mediation", "gamification_participation"):
        guardian.post("/consents", family_id=family["family_id"], consent_type=consent)
    return family


def add_child(guardian, family, name):
    username = name.lower()
    guardian.post(
        f"/families/{family['family_id']}/members/create", display_name=name, role="child", username=username, pin="4821")
    status, session = request(
        "POST", "/auth/child-login", {"family_code": family["child_code"], "username": username, "pin": "4821"})
    check(status, 200, f"{name} can sign in with a PIN")
    return Person(session)


# MARK: what the server tells by itself

class Receiver(Webhook):
    """Counts each delivery, and keeps the messages."""

    def __init__(self):
        super().__init__(int(os.environ["RECEIVER_PORT"]), SECRET)
        self.messages, self.counts = [], {}

    def received(self, message):
        name = message["delivery_id"]
        self.messages.append(message)
        self.counts[name] = self.counts.get(name, 0) + 1

    def about(self, nag):
        """The phases of a nag that were received, in order, without the reminders in between."""
        with self.changed:
            return [each["phase"] for each in self.messages if each["nag_id"] == nag and not each.get("repeat")]

    def wait(self, nag, wanted, promise):
        with self.changed:
            self.changed.wait_for(lambda: self.faults or len(self.about(nag)) >= len(wanted), DEADLINE)
            check(self.faults, [], "webhooks are signed")
            check(self.about(nag), wanted, promise)


def open_socket(person, family):
    query = urllib.parse.urlencode({"token": person.token, "family_id": family})
    return connect(f"{NAGZ.replace('http', 'ws', 1)}/api/v1/ws?{query}")


def closing_code(socket):
    """The code with which the server closes it; None where it does not."""
    with contextlib.suppress(websockets.ConnectionClosed, TimeoutError):
        while True:
            socket.recv(DEADLINE)
    return socket.close_code


class Phone:
    """A client as the public ones: it reads the feed from its cursor whenever its socket tells of a change, and only then."""

    def __init__(self, person, family):
        self.person, self.family = person, family
        self.changed = threading.Condition()
        self.cursor, self.events, self.frames, self.fault = None, {}, [], None
        threading.Thread(target=self.listen, daemon=True).start()
        self.wait(lambda: self.cursor, "the socket is open")

    def listen(self):
        try:
            with open_socket(self.person, self.family) as socket:
                self.read_feed()
                for text in socket:
                    with self.changed:
                        self.frames.append(json.loads(text))
                    self.read_feed()
        except Exception as fault:  # raised again by whoever waits
            with self.changed:
                self.fault = fault
                self.changed.notify_all()

    def read_feed(self):
        has_more = True
        while has_more:
            query = {"cursor": self.cursor} if self.cursor else {}
            page = self.person.get("/sync/events", family_id=self.family, **query)
            self.cursor, has_more = page["cursor"], page["has_more"]
            with self.changed:
                for event in page["nag_events"]:
                    if event["id"] in self.events:
                        raise Broken(f"{self.person.name}'s cursor gives event {event['id']} twice")
                    self.events[event["id"]] = event
                self.changed.notify_all()

    def steps(self, nag):
        """The phases and the end that this client knows of."""
        kinds = ("nag_escalated", "nag_missed")
        return [event["payload"].get("phase", event["event_type"]) for event in self.events.values()
                if event["nag_id"] == nag and event["event_type"] in kinds]

    def heard(self, event, after=0):
        """The frames of one kind, without those before."""
        return [frame for frame in self.frames[after:] if frame["event"] == event]

    def knows_of(self, nag):
        return any(event["nag_id"] == nag for event in self.events.values())

    def wait(self, condition, promise):
        with self.changed:
            self.changed.wait_for(lambda: self.fault or condition(), DEADLINE)
            if self.fault:
                raise Broken(f"{self.person.name}'s socket works: {self.fault}")
            if not condition():
                raise Broken(f"{self.person.name}: {promise}: not within {DEADLINE} s")

    def wait_for_steps(self, nag):
        self.wait(lambda: len(self.steps(nag)) > len(PHASES), "a nag goes through every phase and is missed")
        check(self.steps(nag), PHASES + ["nag_missed"], f"{self.person.name} sees each step once and in order")


# MARK: a picture

def png(*extra):
    """A picture of one pixel."""
    def chunk(name, content):
        return len(content).to_bytes(4, "big") + name + content + zlib.crc32(name + content).to_bytes(4, "big")
    header = bytes([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0])
    chunks = [(b"IHDR", header), *extra, (b"IDAT", zlib.compress(b"\0\x20\x80\x20")), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*each) for each in chunks)


def upload(person, picture):
    body = (b'--part\r\nContent-Disposition: form-data; name="file"; filename="image.jpg"\r\n'
            b"Content-Type: image/jpeg\r\n\r\n" + picture + b"\r\n--part--\r\n")
    return person.ask("POST", "/attachments", body, 201, {"Content-Type": "multipart/form-data; boundary=part"})


# MARK: the day

def main():
    receiver = Receiver()

    with chapter("two families sign up"):
        ada, grace = sign_up("Ada"), sign_up("Grace")
        lovelaces, hoppers = create_family(ada, "The Lovelaces"), create_family(grace, "The Hoppers")
        home = lovelaces["family_id"]
        ben, cleo = add_child(ada, lovelaces, "Ben"), add_child(ada, lovelaces, "Cleo")
        kit = add_child(grace, hoppers, "Kit")
        william, dora = sign_up("William"), sign_up("Dora")
        for person in (william, dora):
            person.post("/families/join", invite_code=lovelaces["invite_code"])
        ada.post(f"/families/{home}/members", user_id=william.id, role="guardian")
        bens_phone, adas_phone = Phone(ben, home), Phone(ada, home)

    with chapter("a nag is done on time; points and the creator's socket show it"):
        ben.ask("PATCH", f"/preferences?family_id={home}", {"prefs_json": {"gamification_enabled": True}})
        dishes = ada.nag(ben.id, "Dry the dishes", family_id=home)["id"]
        ben.complete(dishes)
        for phone in (adas_phone, bens_phone):
            phone.wait(lambda: phone.heard("gamification_event"), "the socket tells of the points")
        summary = ben.get("/gamification/summary", family_id=home)
        check((summary["total_points"], summary["current_streak"]), (10, 1), "on time gives 10 points and a streak of 1")

    with chapter("nags escalate through every phase; both sockets see each step"):
        phones = (bens_phone, adas_phone)
        before = {phone: len(phone.frames) for phone in phones}
        due = soon(seconds=UNTIL_DUE)
        bens = [ada.nag(ben.id, f"Feed fish {number}", due, family_id=home)["id"] for number in (1, 2, 3)]
        cleos = ada.nag(cleo.id, "Take out the bins", due, family_id=home)["id"]
        for nag in bens:
            bens_phone.wait_for_steps(nag)
        for nag in bens + [cleos]:
            adas_phone.wait_for_steps(nag)
            check(ada.get(f"/nags/{nag}")["status"], "missed", "a nag that nobody does is missed")
            check(ada.get(f"/nags/{nag}/escalation")["current_phase"], PHASES[-1], "a missed nag keeps its last phase")
        for phone in phones:
            phone.wait(lambda: len(phone.heard("nag_status_changed", before[phone])) > len(PHASES),
                       "the socket tells of each step")
        check(bens_phone.knows_of(cleos), False, "Ben knows nothing of Cleo's nag")

    with chapter("the webhook gets each delivery once, and none that a socket showed"):
        receiver.wait(cleos, PHASES, "the webhook gets each step of a nag to a child without a socket")
        def statuses(nag):
            return [each["status"] for each in ada.get("/deliveries", nag_id=nag)["items"]]

        eventually(lambda: statuses(cleos), ["sent"] * len(PHASES), "a delivery that the webhook acknowledged is sent")
        for nag in bens:
            eventually(lambda: statuses(nag), ["delivered"] * len(PHASES), "a delivery that the socket showed is delivered")
            check(receiver.about(nag), [], "who has a socket gets no push")

    with chapter("the misses show in tone, coaching, patterns, points and reports"):
        tone = ada.post("/ai/select-tone", nag_id=bens[0])
        check((tone["tone"], tone["miss_count_7d"], tone["streak"]), ("firm", 3, 0), "three misses make the tone firm")
        tone = ada.post("/ai/select-tone", nag_id=cleos)
        check((tone["tone"], tone["miss_count_7d"]), ("neutral", 1), "one miss counts and leaves the tone neutral")
        check(cleo.post("/ai/coaching", nag_id=cleos)["scenario"], "first_miss", "the first miss has tips of its own")

        def patterns(child):
            return ada.get("/ai/patterns", user_id=child.id, family_id=home)["insights"]

        offset = datetime.timedelta(hours=-int(lovelaces["time_zone"].removeprefix("Etc/GMT")))
        weekday = (datetime.datetime.fromisoformat(due.replace("Z", "+00:00")) + offset).strftime("%A")
        check(patterns(ben), [{"day_of_week": weekday, "miss_count": 3}], "three misses on a weekday are a pattern")
        check(patterns(cleo), [], "one miss is no pattern")
        summary = ben.get("/gamification/summary", family_id=home)
        check((summary["total_points"], summary["current_streak"]), (10, 0), "a miss ends the streak and costs no points")
        week = ada.get("/reports/family/weekly", family_id=home)["metrics"]
        for report in (week, ada.get("/reports/family/metrics", family_id=home)):
            check([report[name] for name in ("total_nags", "completed", "missed")], [5, 1, 4],
                  "reports count the nags, and those that were done and missed")
        ben.get("/reports/family/weekly", 403, family_id=home)

    with chapter("two families connect; a caregiver nags a child of the other"):
        ada.nag(kit.id, "Practise the piano", family_id=home, wanted=(403, 404, 422))
        connection = grace.post("/connections/invite", invitee_email="ada@example.com")["id"]
        adas_phone.wait(lambda: adas_phone.heard("connection_invited"), "the invitee hears of the invitation")
        check(ada.post(f"/connections/{connection}/accept")["status"], "active", "an accepted connection is active")
        ada.nag(kit.id, "Practise the piano", connection_id=connection, wanted=403)
        grace.ask("PATCH", f"/connections/{connection}/type", {"caregiver": True})
        children = ada.get(f"/connections/{connection}/children")
        check([child["user_id"] for child in children], [kit.id], "a caregiver sees the children of the other party")
        piano = ada.nag(kit.id, "Practise the piano", soon(seconds=3), connection_id=connection)["id"]
        check([nag["id"] for nag in kit.get("/nags")["items"]], [piano], "the child gets the caregiver's nag")
        receiver.wait(piano, PHASES[:1], "the webhook tells the child that it is due soon")
        ada.nag(grace.id, "Call me", connection_id=connection, wanted=403)
        grace.nag(ben.id, "Practise the piano", connection_id=connection, wanted=403)
        ben.get(f"/nags/{piano}", (403, 404))
        before = len(adas_phone.frames)
        kit.complete(piano)
        adas_phone.wait(lambda: any(frame["data"].get("nag_id") == piano
                                    for frame in adas_phone.heard("nag_status_changed", before)),
                        "the caregiver hears that it is done")

    # A picture belongs to a nag from its creation: the proof is a nag back, which a participant may create.
    with chapter("a photo proves a chore"):
        attic = ada.nag(dora.id, "Tidy the attic", family_id=home, done_definition="binary_check")["id"]
        dora.complete(attic)
        photo = upload(dora, png((b"tEXt", b"Location\0The Lovelaces' attic")))
        check(photo["content_type"], "image/png", "the bytes say what a picture is, whatever its label")
        proof = dora.nag(ada.id, "The attic is tidy: look", family_id=home, attachment_ids=[photo["id"]])
        check(proof["attachment_urls"], [photo["url"]], "the nag names its picture")
        check(ada.get(photo["url"]), png(), "the recipient gets the picture, without the words inside it")
        for stranger in (ben, grace):
            stranger.get(photo["url"], 404)
        cleo.nag(ada.id, "Look", family_id=home, attachment_ids=[photo["id"]], wanted=(403, 404, 422))
        ada.complete(proof["id"])

    with chapter("two owners change a policy"):
        policy = ada.get("/policies", family_id=home)["items"][0]
        path = f"/policies/{policy['id']}"
        owned = ada.ask("PATCH", path, {"owners": [ada.id, william.id]})
        check(sorted(owned["owners"]), sorted([ada.id, william.id]), "an only owner adds another")
        proposed = ada.ask("PATCH", path, {"constraints": {"daily_nag_cap": 1}})
        check(proposed["constraints"]["daily_nag_cap"], 8, "one of two owners changes nothing")
        dora.post(f"{path}/approvals", 403)
        william.ask("POST", f"{path}/approvals", {}, 412, {"If-Match": owned["etag"]})
        william.ask("POST", f"{path}/approvals", {}, 201, {"If-Match": proposed["etag"]})
        check(ada.get(path)["constraints"]["daily_nag_cap"], 1, "what both owners approved is in force")
        william.nag(cleo.id, "Water the roses", family_id=home)
        william.nag(cleo.id, "Water the ferns", family_id=home, wanted=403)

    with chapter("an account is exported and deleted"):
        export = dora.get("/accounts/export")

        def ids(section):
            return sorted(each["id"] for each in export[section])

        check(ids("account"), [dora.id], "the export is about the person")
        check(ids("nags"), sorted([attic, proof["id"]]), "the export has the nags of both directions, and no other")
        check(ids("attachments"), [photo["id"]], "the export has the person's pictures")
        check([name for name in ("Take out the bins", "Practise the piano") if name in json.dumps(export)], [],
              "the export has nothing of others")
        with open_socket(dora, home) as socket:
            ben.ask("DELETE", f"/accounts/{dora.id}", wanted=(403, 404))
            dora.ask("DELETE", f"/accounts/{dora.id}")
            check(closing_code(socket), 4001, "the deletion closes the person's sockets")
        dora.get("/accounts/export", 401)
        status, _ = request("POST", "/auth/login", {"email": "dora@example.com", "password": "the passphrase of Dora"})
        check(status, 401, "a deleted account cannot sign in")
        members = {each["user_id"]: each["status"] for each in ada.get(f"/families/{home}/members")["items"]}
        check(members.get(dora.id, "removed"), "removed", "the deletion ends the membership")

    with chapter("no delivery came twice; the audit log proves the day"):
        check([name for name, count in receiver.counts.items() if count != 1], [], "each delivery comes once")
        check(receiver.faults, [], "webhooks are signed")
        eventually(lambda: ada.get("/audit/verify", family_id=home)["verdict"], "sound", "the audit log is sound")
        entries = ada.get("/audit/events", family_id=home, limit=200)["items"]
        kinds = [entry["kind"] for entry in entries]
        check((kinds.count("nag.escalated"), kinds.count("nag.missed")), (16, 4), "each step has one entry")
    print(f"{len(receiver.messages)} deliveries, {len(adas_phone.frames) + len(bens_phone.frames)} frames, "
          f"{len(entries)} entries of the audit log")


main()
