"""Runs the client of openapi/samples in Python against a server (NAGZ): what it does after an expired token, a lost response and the end
of a session, and which webhooks it takes for the server's."""
import asyncio
import datetime
import hashlib
import hmac
import os
import pathlib
import sys
import time
import uuid

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "openapi/samples"))
from client import Client, NagzError, is_signed  # noqa: E402

EMAIL, PASSWORD = f"sam.{uuid.uuid4().hex[:12]}@example.com", "a long passphrase"


def sign_up(client):
    client.session = client.send("POST", "/auth/signup", {"email": EMAIL, "password": PASSWORD, "display_name": "Sam"})
    family = client.send("POST", "/families", {"name": "The Samples"})["family_id"]
    client.send("POST", "/consents", {"family_id": family, "consent_type": "child_account_creation"})
    child = client.send("POST", f"/families/{family}/members/create", {"display_name": "Kim", "role": "child"})["user_id"]
    return family, child


def nag(family, child, words):
    due = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=4)
    return {"family_id": family, "recipient_id": child, "category": "chores", "done_definition": "ack_only", "description": words,
            "due_at": due.isoformat()}


def losing_responses(client, count):
    """Makes the client's next responses to writes get lost, after the server has acted."""
    send, lost = client._send, []

    def lose(method, path, body, key):
        answer = send(method, path, body, key)
        if key and len(lost) < count:
            lost.append(key)
            raise ConnectionResetError
        return answer

    client._send = lose
    return lost


async def listening(client, family, child):
    """An event arrives, and the end of the session ends the socket with 4001."""
    events = []
    listener = asyncio.create_task(client.listen(family, events.append))
    # What happens before the socket is open is not heard.
    for number in range(60):
        await asyncio.to_thread(client.write, "POST", "/nags", nag(family, child, f"Feed cat {number}"))
        await asyncio.sleep(1)
        if events:
            break
    assert events[0]["event"] == "nag_created", events
    await asyncio.to_thread(client.send, "POST", "/auth/logout", {"refresh_token": client.session["refresh_token"]})
    return await listener


def main():
    client = Client(os.environ["NAGZ"])
    family, child = sign_up(client)
    client.log_in(EMAIL, PASSWORD)
    first = client.session["refresh_token"]
    client.session["access_token"] = "expired"
    assert client.send("GET", "/me")["email"] == EMAIL and client.session["refresh_token"] != first
    try:
        client.send("GET", "/nags?state=nonsense")
        raise AssertionError("an unknown state was accepted")
    except NagzError as error:
        assert (error.status, error.code, error.details["field"]) == (422, "VALIDATION_ERROR", "state"), vars(error)

    lost = losing_responses(client, 1)
    made = [client.write("POST", "/nags", nag(family, child, f"Task {number}"))["id"] for number in range(3)]
    listed = [one["id"] for one in client.pages(f"/nags?family_id={family}", size=2)]
    assert len(lost) == 1 and sorted(listed) == sorted(made), (lost, listed, made)

    pages = []
    cursor = client.sync(family, "start", pages.append)
    assert {one["id"] for page in pages for one in page["nags"]} == set(made) and pages[-1]["cursor"] == cursor
    newest = client.write("POST", "/nags", nag(family, child, "Task 4"))["id"]
    pages.clear()
    client.sync(family, cursor, pages.append)
    assert [one["id"] for page in pages for one in page["nags"]] == [newest]

    code = asyncio.run(asyncio.wait_for(listening(client, family, child), 60))
    assert code == 4001, code

    secret, now, body = "the operator's webhook secret here", int(time.time()), b'{"channel": "push"}'
    headers = {"Nagz-Timestamp": str(now),
               "Nagz-Signature": "v1=" + hmac.new(secret.encode(), b"%d." % now + body, hashlib.sha256).hexdigest()}
    assert is_signed(secret, headers, body)
    assert not is_signed(secret, headers, body + b" ") and not is_signed("another secret", headers, body)
    assert not is_signed(secret, headers, body, now=now + 301)
    for name in headers:
        assert not is_signed(secret, {key: value for key, value in headers.items() if key != name}, body), f"without {name}"
        for odd in ("", "tomorrow", "-1", "²", "9" * 5000, "v1=é", "v1=\udc80"):
            assert not is_signed(secret, headers | {name: odd}, body), (name, odd)
    print("ok: the Python client refreshes, pages, repeats a write once, syncs, listens and checks webhooks")


if __name__ == "__main__":
    main()
