"""A web server for tests, by hypercorn: HTTP/1.1 and HTTP/2, plain or with TLS. It listens on a free port of 127.0.0.1, prints
the port, and ends when its standard input ends.

usage: server.py [--certificate FILE --key FILE] [--webhook-secret FILE] [--apns-key FILE]

  /hello, /echo, /large, /endless, /head, /slow, /redirect, /cut   for the client's own tests
  /ws/…             a WebSocket that sends words, says nothing, or closes
  /hook/…           a webhook: checks its signature with Python's hmac
  /3/device/…       APNs: checks the token with the package cryptography
  /webpush/…        a push service and its browser, see webpush.py; /webpush alone answers the browser's keys
  /model/…          a service with language models, see models.py
  /file/…           a file to download, see files.py
  /otlp/…           a collector of traces, see traces.py
  /mails            what came by SMTP: each mail's sender, recipients, text, and who signed in
  /requests         what came to the last six, as JSON; never counted itself
  /release          lets the webhooks and devices with the word `held` in their path answer

The path of a webhook and a device token say what to answer: words between dashes, as `fail503x2-slow200`.
"""
import argparse
import asyncio
import base64
import hashlib
import hmac
import json
import re
import socket
import ssl
import sys
import time

from hypercorn.asyncio import serve
from hypercorn.config import Config

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

import files
import models
import traces
import webpush

arguments = argparse.ArgumentParser()
for option in ("certificate", "key", "webhook-secret", "apns-key"):
    arguments.add_argument("--" + option)
options = arguments.parse_args()
requests = []
mails = []
failures = {}
busy = {"now": 0, "most": 0}
released = asyncio.Event()


async def answer(send, status, body=b"", headers=()):
    fields = [(b"content-length", str(len(body)).encode())] + list(headers)
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": body})


async def content(receive):
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body


def number(text, word, standard):
    found = re.search(word + r"(\d+)", text)
    return int(found[1]) if found else standard


def webhook_faults(headers, body):
    """What is wrong with a signed message."""
    secret = open(options.webhook_secret, "rb").read().strip()
    timestamp = headers.get("nagz-timestamp", "")
    expected = "v1=" + hmac.new(secret, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, headers.get("nagz-signature", "")):
        return "signature"
    if abs(time.time() - int(timestamp)) > 3600 * 24 * 4000:
        return "timestamp"
    message = json.loads(body)
    if headers.get("nagz-delivery-id") != message["delivery_id"]:
        return "delivery id"
    if headers.get("content-type") != "application/json":
        return "content type"
    return None


def apns_faults(headers, body):
    """What is wrong with a push message, in APNs' own words where it has any."""
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, utils

    def decoded(part):
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))

    try:
        scheme, token = headers["authorization"].split(" ")
        head, claims, signature = token.split(".")
        raw = decoded(signature)
        assert scheme == "bearer" and len(raw) == 64
        key = serialization.load_pem_private_key(open(options.apns_key, "rb").read(), None).public_key()
        pair = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
        key.verify(pair, f"{head}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
        assert json.loads(decoded(head)) == {"alg": "ES256", "kid": "KEY1234567"}
        claims = json.loads(decoded(claims))
        assert claims["iss"] == "TEAM123456" and set(claims) == {"iss", "iat"} and isinstance(claims["iat"], int)
    except Exception as error:  # noqa: BLE001 — every fault is the token's
        return f"InvalidProviderToken {error!r}"
    if headers.get("apns-topic") != "com.example.nagz":
        return "TopicDisallowed"
    if headers.get("apns-push-type") != "alert" or not re.fullmatch(r"[0-9a-f-]{36}", headers.get("apns-id", "")):
        return "BadHeaders"
    if len(body) > 4096 or "aps" not in json.loads(body):
        return "PayloadTooLarge"
    return None


async def provider(scope, receive, send, path):
    busy["now"] += 1
    busy["most"] = max(busy["most"], busy["now"])
    try:
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        body = await content(receive)
        is_apns = path.startswith("/3/device/")
        if path.startswith("/webpush/"):
            return await browser(scope, headers, body, send, path)
        fault = apns_faults(headers, body) if is_apns else webhook_faults(headers, body)
        name = headers.get("apns-id") if is_apns else headers.get("nagz-delivery-id")
        if is_apns and scope["http_version"] != "2":
            fault = "HTTP/2 is required"
        record = {"path": path, "version": scope["http_version"], "headers": headers, "fault": fault, "id": name,
                  "body": json.loads(body or b"null"), "at": time.monotonic()}
        requests.append(record)
        await asyncio.sleep(number(path, "slow", 0) / 1000)
        if "held" in path:
            await released.wait()
        found = re.search(r"fail(\d+)(?:x(\d+))?", path)
        failures[(path, name)] = failures.get((path, name), 0) + 1
        if fault:
            record["status"] = 400
            return await answer(send, 400, json.dumps({"reason": fault}).encode())
        if found and failures[(path, name)] <= int(found[2] or 1_000_000):
            status = int(found[1])
            record["status"] = status
            reason = {410: "Unregistered", 400: "BadDeviceToken"}.get(status, "Other")
            return await answer(send, status, json.dumps({"reason": reason}).encode(), [(b"retry-after", b"1")])
        record["status"] = 200
        await answer(send, 200, b"", [(b"apns-id", (name or "").encode())] if is_apns else [])
    finally:
        busy["now"] -= 1


async def browser(scope, headers, body, send, path):
    headers.setdefault("host", headers.get(":authority", ""))
    record = {"path": path, "headers": headers, "size": len(body), "fault": None}
    requests.append(record)
    try:
        record["claims"], record["body"] = webpush.read(headers, body, options.apns_key)
    except Exception as error:  # noqa: BLE001 — every fault is the message's
        record["fault"] = repr(error)
        return await answer(send, 400)
    await asyncio.sleep(number(path, "slow", 0) / 1000)
    found = re.search(r"fail(\d+)(?:x(\d+))?", path)
    failures[path] = failures.get(path, 0) + 1
    if found and failures[path] <= int(found[2] or 1_000_000):
        return await answer(send, int(found[1]))
    await answer(send, 201, b"", [(b"location", b"/message")])


async def websocket(receive, send, path):
    await receive()
    if not path.startswith("/ws/"):
        return await send({"type": "websocket.close", "code": 1000})
    await send({"type": "websocket.accept"})
    if path == "/ws/large":
        await send({"type": "websocket.send", "text": "a" * 300_000})
    for word in ("one", "two", "é" * 40_000) if path == "/ws/words" else ():
        await send({"type": "websocket.send", "text": word})
    if path == "/ws/silent":
        await asyncio.Event().wait()
    await send({"type": "websocket.close", "code": 4001})


async def app(scope, receive, send):
    if scope["type"] == "websocket":
        return await websocket(receive, send, scope["path"])
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    path, query = scope["path"], scope["query_string"].decode()
    if path.startswith("/hook") or path.startswith("/3/device/") or path.startswith("/webpush/"):
        await provider(scope, receive, send, path)
    elif path.startswith("/model/"):
        body = await content(receive)
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        requests.append({"path": path, "method": scope["method"], "headers": headers, "body": json.loads(body or b"null")})
        await models.serve(scope["method"], path, requests[-1]["body"], send, answer)
    elif path.startswith("/file/"):
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        requests.append({"path": path, "method": scope["method"], "range": headers.get("range")})
        await files.serve(path, headers, send)
    elif path.startswith("/otlp/"):
        body = await content(receive)
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        requests.append({"path": path, "headers": headers} | traces.read(headers, body))
        await answer(send, number(path, "fail", 200), b"{}")
    elif path == "/webpush":
        await answer(send, 200, json.dumps(webpush.subscription()).encode())
    elif path == "/mails":
        await answer(send, 200, json.dumps({"port": mail_server.port, "mails": mails}).encode())
    elif path == "/requests":
        await answer(send, 200, json.dumps({"requests": requests, "most": busy["most"]}).encode())
    elif path == "/release":
        released.set()
        await answer(send, 200)
    elif path == "/hello":
        await answer(send, 200, b"hello over HTTP/" + scope["http_version"].encode(), [(b"x-word", b"one"), (b"x-empty", b"")])
    elif path == "/echo":
        body = await content(receive)
        fields = {name.decode(): value.decode() for name, value in scope["headers"]}
        await answer(send, 200, json.dumps(
            {"method": scope["method"], "headers": fields, "body": base64.b64encode(body).decode()}).encode())
    elif path == "/large":
        await answer(send, 200, b"a" * number(query, "bytes=", 1))
    elif path == "/endless":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        gone = asyncio.create_task(until_gone(receive))
        while not gone.done():
            await send({"type": "http.response.body", "body": b"a" * 10_000, "more_body": True})
            await asyncio.sleep(0)
    elif path == "/head":
        await answer(send, 200, b"", [(f"x-{index}".encode(), b"v" * 1_000) for index in range(number(query, "lines=", 1))])
    elif path == "/slow":
        await asyncio.sleep(number(query, "ms=", 0) / 1000)
        await answer(send, 200, b"late")
    elif path == "/trickle":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"10")]})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        await asyncio.sleep(number(query, "ms=", 0) / 1000)
    elif path == "/redirect":
        await answer(send, 302, b"", [(b"location", b"/hello")])
    elif path == "/cut":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1000")]})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        await asyncio.sleep(0.1)
        raise ConnectionError("cut")
    else:
        await answer(send, 404)


async def until_gone(receive):
    """Returns when the client has closed its connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


class MailHandler:
    """Takes mails, but none to an address that begins with "no"; "later" is taken at the second try."""

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("no"):
            return "550 no such user"
        if address.startswith("later") and failures.setdefault(address, 0) == 0:
            failures[address] = 1
            return "451 try again"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        mails.append({"from": envelope.mail_from, "to": envelope.rcpt_tos, "user": session.auth_data,
                      "tls": session.ssl is not None, "text": envelope.original_content.decode()})
        return "250 taken"


def signed_in(server, session, envelope, mechanism, data):
    name, password = data.login.decode(), data.password.decode()
    return AuthResult(success=password == "relay password", handled=False, auth_data=name)


class MailServer(Controller):
    """On a free port of 127.0.0.1; with the certificate it insists on STARTTLS."""

    def __init__(self):
        context = None
        if options.certificate:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(options.certificate, options.key)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            free = probe.getsockname()[1]
        super().__init__(MailHandler(), hostname="127.0.0.1", port=free, tls_context=context,
                         require_starttls=context is not None, authenticator=signed_in, auth_require_tls=False)


mail_server = MailServer()


async def main():
    mail_server.start()
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    config = Config()
    config.bind = [f"fd://{listener.fileno()}"]
    config.errorlog = config.accesslog = None
    config.h2_max_concurrent_streams = 500
    config.backlog = 1024
    if options.certificate:
        config.certfile, config.keyfile = options.certificate, options.key
        config.alpn_protocols = ["h2", "http/1.1"]
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin, lambda: ended.set() if not sys.stdin.buffer.raw.read(1) else None)
    print(listener.getsockname()[1], flush=True)
    config.graceful_timeout = 0
    await serve(app, config, shutdown_trigger=ended.wait)


asyncio.run(main())
