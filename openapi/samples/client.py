"""A small client of Nagz to copy from: sign-in with refresh, pages, writes that are safe to repeat, sync, the WebSocket, and the check
of a webhook. Needs Python 3.11; the WebSocket also needs the package `websockets`."""
import hashlib
import hmac
import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid


class NagzError(Exception):
    """An error response: its status, and `code`, `message` and `details` of the error."""

    def __init__(self, response, error):
        super().__init__(error["message"])
        self.status, self.code, self.details = response.code, error["code"], error["details"]
        self.retry_after = int(response.headers.get("Retry-After") or 0)


class Client:
    def __init__(self, server):
        self.server, self.session = server.rstrip("/"), None

    def log_in(self, email, password):
        self.session = self.send("POST", "/auth/login", {"email": email, "password": password})

    def send(self, method, path, body=None, key=None):
        """Sends a request once. An access token that has expired is refreshed first."""
        try:
            return self._send(method, path, body, key)
        except NagzError as error:
            if error.status != 401 or not self.session or path.startswith("/auth/"):
                raise
        # A refresh token is used once: store the new pair before anything else.
        self.session |= self._send("POST", "/auth/refresh", {"refresh_token": self.session["refresh_token"]}, None)
        return self._send(method, path, body, key)

    def write(self, method, path, body, attempts=5):
        """Sends a write until there is a response. The key makes it happen once, however often it is sent."""
        key = str(uuid.uuid4())
        for attempt in range(attempts):
            try:
                return self.send(method, path, body, key)
            except NagzError as error:
                if error.status not in (429, 503) or attempt == attempts - 1:
                    raise
                time.sleep(error.retry_after or 2**attempt)
            except OSError:  # no connection, or no response: it may have happened or not
                if attempt == attempts - 1:
                    raise
                time.sleep(2**attempt)

    def pages(self, path, size=100):
        """Yields the items of a list, page after page."""
        offset, total = 0, 1
        while offset < total:
            page = self.send("GET", f"{path}{'&' if '?' in path else '?'}limit={size}&offset={offset}")
            yield from page["items"]
            offset, total = offset + page["limit"], page["total"]

    def sync(self, family, cursor, store):
        """Reads what has changed since the cursor (`start` at first), and returns the next one. `store` gets each page, and
        keeps its rows and its `cursor` together."""
        while True:
            page = self.send("GET", f"/sync/events?family_id={family}&cursor={urllib.parse.quote(cursor)}")
            store(page)  # with `must_refetch` it replaces everything
            cursor = page["cursor"]
            if not page["has_more"]:
                return cursor

    async def listen(self, family, changed):
        """Calls `changed` with each event of the family until the socket closes, and returns the close code. On 4001 refresh
        the session, otherwise wait a little; then listen again."""
        from websockets import ConnectionClosed
        from websockets.asyncio.client import connect

        ticket = self.send("POST", "/ws/tickets")["ticket"]
        address = f"{self.server.replace('http', 'ws', 1)}/api/v1/ws?ticket={ticket}&family_id={family}"
        async with connect(address) as socket:
            try:
                while True:
                    changed(json.loads(await socket.recv()))
            except ConnectionClosed:
                return socket.close_code

    def _send(self, method, path, body, key):
        headers = {"Content-Type": "application/json"}
        if self.session:
            headers["Authorization"] = f"Bearer {self.session['access_token']}"
        if key:
            headers["Idempotency-Key"] = key
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.server}/api/v1{path}", content, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                text = response.read()
                return json.loads(text) if text else None
        except urllib.error.HTTPError as response:
            raise NagzError(response, json.load(response)["error"]) from None


def is_signed(secret, headers, body, now=None):
    """Whether a webhook's request is the server's: call it with the body's bytes, before they are read."""
    timestamp, signature = headers.get("Nagz-Timestamp") or "", headers.get("Nagz-Signature") or ""
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 20):
        return False
    expected = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    is_recent = abs((now or time.time()) - int(timestamp)) <= 300
    return is_recent and hmac.compare_digest(f"v1={expected}".encode(), signature.encode(errors="replace"))
