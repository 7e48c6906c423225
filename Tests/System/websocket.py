"""Checks the server's WebSocket with the client of the library `websockets`. The environment names a server (NAGZ), a
guardian's TOKEN, their FAMILY and one of its children (CHILD). With --through-proxy it breaks no rule of the protocol: a proxy
may reset a connection before the code of its end is read."""
import asyncio
import datetime
import json
import os
import sys
import urllib.request

import websockets
from websockets.asyncio.client import connect
from websockets.frames import Frame, Opcode

NAGZ, TOKEN, FAMILY = os.environ["NAGZ"], os.environ["TOKEN"], os.environ["FAMILY"]
URL = NAGZ.replace("http", "ws", 1) + "/api/v1/ws"
OWN = f"{URL}?token={TOKEN}&family_id={FAMILY}"


def create_nag():
    due = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=4)
    body = {
        "family_id": FAMILY, "recipient_id": os.environ["CHILD"], "category": "meds", "done_definition": "ack_only",
        "due_at": due.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    request = urllib.request.Request(
        f"{NAGZ}/api/v1/nags", json.dumps(body).encode(),
        {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["id"]


async def answers():
    """Text, fragments, control frames, an event, and the closing handshake."""
    async with connect(OWN, ping_interval=None) as socket:
        assert socket.response.headers.get("Sec-WebSocket-Extensions") is None
        await socket.send("ping")
        assert json.loads(await socket.recv()) == {"event": "pong"}
        await socket.send(["pi", "n", "g"])
        assert json.loads(await socket.recv()) == {"event": "pong"}
        await asyncio.wait_for(await socket.ping(b"payload"), 10)
        await socket.pong(b"unasked")
        await socket.send(b"ping")  # binary: ignored
        nag = await asyncio.to_thread(create_nag)
        event = json.loads(await asyncio.wait_for(socket.recv(), 10))
        assert event["event"] == "nag_created" and event["data"] == {"nag_id": nag}, event
        await socket.close(1000, "done")
        assert socket.close_code == 1000, socket.close_code


async def code(*frames, url=OWN):
    """The code with which the server closes after these frames."""
    async with connect(url, ping_interval=None) as socket:
        for frame in frames:
            socket.transport.write(frame)
        try:
            while True:
                await asyncio.wait_for(socket.recv(), 10)
        except websockets.ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else None


def frame(opcode, payload, fin=True, masked=True):
    return Frame(opcode, payload, fin=fin).serialize(mask=masked)


async def violations():
    expected = [
        (1002, [frame(Opcode.TEXT, b"ping", masked=False)]),
        (1002, [bytes([0xC1, 0x80, 0, 0, 0, 0])]),
        (1002, [frame(Opcode.CONT, b"ping")]),
        (1002, [frame(Opcode.TEXT, b"pi", fin=False), frame(Opcode.TEXT, b"ng")]),
        (1002, [bytes([0x83, 0x80, 0, 0, 0, 0])]),
        (1002, [bytes([0x89, 0xFE, 0, 126, 0, 0, 0, 0])]),
        (1002, [frame(Opcode.CLOSE, b"\x03\xed")]),
        (1007, [frame(Opcode.TEXT, b"\xc3\x28")]),
        (1007, [frame(Opcode.TEXT, b"\xe2\x82", fin=False), frame(Opcode.CONT, b"")]),
        (1009, [frame(Opcode.BINARY, bytes(1 << 20))]),
        (1008, [frame(Opcode.PONG, b"")] * 1_000),
        (4001, [frame(Opcode.CLOSE, b"\x0f\xa1")]),
    ]
    for wanted, frames in expected:
        got = await code(*frames)
        assert got == wanted, f"{frames[0][:16]!r}: {got} instead of {wanted}"


async def refusals():
    for wanted, query in [(4001, f"token=x&family_id={FAMILY}"), (4001, f"family_id={FAMILY}"),
                          (4001, f"token={TOKEN}&family_id=00000000-0000-4000-8000-000000000001"),
                          (4002, f"token={TOKEN}")]:
        got = await code(url=f"{URL}?{query}")
        assert got == wanted, f"{query[:20]}: {got} instead of {wanted}"


async def browser():
    """A browser is refused before the upgrade."""
    try:
        async with connect(f"{URL}?token=x&family_id={FAMILY}", origin="http://localhost:5173"):
            raise AssertionError("accepted")
    except websockets.InvalidStatus as refusal:
        assert refusal.response.status_code == 401


async def main():
    await answers()
    if "--through-proxy" not in sys.argv:
        await violations()
    await refusals()
    await browser()
    print(f"the WebSocket works with websockets {websockets.version.version}")


asyncio.run(main())
