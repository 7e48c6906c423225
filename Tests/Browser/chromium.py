"""Debian's Chromium over the DevTools protocol, with nothing but the standard library."""
import base64
import contextlib
import copy
import json
import os
import pathlib
import secrets
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request


class WebSocket:
    """A client of RFC 6455, as much of it as the DevTools need."""

    def __init__(self, url):
        host, path = url.removeprefix("ws://").split("/", 1)
        name, port = host.split(":")
        self.socket = socket.create_connection((name, int(port)), 30)
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        self.socket.sendall(
            f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.socket.recv(1)
        assert b" 101 " in head, head

    def send(self, text):
        data, mask = text.encode(), secrets.token_bytes(4)
        length = len(data)
        head = bytes([0x81, 0x80 | (length if length < 126 else 126 if length < 65_536 else 127)])
        if length >= 126:
            head += struct.pack(">H" if length < 65_536 else ">Q", length)
        self.socket.sendall(head + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(data)))

    def receive(self):
        message = b""
        while True:
            first, second = self.exactly(2)
            length = second & 127
            if length > 125:
                length = struct.unpack(">H" if length == 126 else ">Q", self.exactly(2 if length == 126 else 8))[0]
            message += self.exactly(length)
            if first & 0x80:
                return message.decode()

    def exactly(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(min(count - len(data), 1 << 20))
            if not part:
                raise EOFError("the browser is gone")
            data += part
        return data


# Two frames later, or two turns of a page in the background, which paints nothing; and once what moves has come to its end.
QUIET = """(async () => {
    const turn = () => new Promise((done) => document.hidden ? setTimeout(done) : requestAnimationFrame(() => done()));
    await turn(), await turn();
    const ends = document.getAnimations().filter((one) => one.playState === 'running' && one.effect.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(ends.map((one) => one.finished));
    return ends.length === 0;
})()"""


class Browser:
    """A headless browser with one page, ended and removed with the block it is made for."""

    def __init__(self, program, downloads, *more):
        self.folder = tempfile.mkdtemp(prefix="nagz-chromium-")
        self.downloads = str(downloads)
        options = [
            "--headless=new", "--remote-debugging-port=0", f"--user-data-dir={self.folder}", "--no-first-run", "--disable-gpu",
            "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking", "--hide-scrollbars",
            # Two hundred changes of the address in ten seconds are a walk through all operations, and no attack.
            "--disable-ipc-flooding-protection",
            "--force-color-profile=srgb", "--lang=en-GB", *more]
        if os.geteuid() == 0:
            options.append("--no-sandbox")
        self.process = subprocess.Popen(
            [program, *options, "about:blank"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=dict(os.environ, TZ="America/New_York"), start_new_session=True)
        place = pathlib.Path(self.folder) / "DevToolsActivePort"
        deadline = time.monotonic() + 30
        while not place.exists() or len(place.read_text().splitlines()) < 2:
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError("Chromium did not start")
            time.sleep(0.05)
        self.port, self.problems = place.read_text().splitlines()[0], []
        self.attach(lambda page: page["type"] == "page")
        self.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.downloads)

    def attach(self, condition):
        """Takes over the page that meets the condition."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        page = next(one for one in json.load(opener.open(f"http://127.0.0.1:{self.port}/json")) if condition(one))
        self.socket, self.last = WebSocket(page["webSocketDebuggerUrl"]), 0
        self.transferred, self.paused, self.tolerated = 0, [], []
        self.pending, self.unread = {}, set()  # requests without a response, and responses that have not ended
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.command(f"{domain}.enable")

    @contextlib.contextmanager
    def another_tab(self, url, tolerated=()):
        """Another tab of the same browser, closed with the block."""
        identifier = self.command("Target.createTarget", url="about:blank")["targetId"]
        tab = copy.copy(self)
        tab.attach(lambda page: page["id"] == identifier)
        tab.tolerated = [*tolerated]
        tab.open(url)
        try:
            yield tab
        finally:
            self.command("Target.closeTarget", targetId=identifier)

    def command(self, method, **parameters):
        self.last += 1
        self.socket.send(json.dumps({"id": self.last, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == self.last:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.note(message)

    def note(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            # A refused sign-in is no fault of the page, nor is what a test itself brings about.
            if not any(text in parameters["entry"]["text"] for text in ["status of 401", *self.tolerated]):
                self.problems.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
        elif method == "Fetch.requestPaused":
            self.paused.append(parameters)
            self.pending.pop(parameters.get("networkId"), None)
        elif method == "Network.requestWillBeSent":
            self.pending[parameters["requestId"]] = parameters["request"]["url"]
        elif method == "Page.frameStartedNavigating" and "ameDocument" not in parameters["navigationType"]:
            # Nobody hears how the requests of the page before end.
            self.pending, self.unread = {}, set()
        elif method == "Network.responseReceived":
            # Its body follows at once, unless the page does not read it.
            self.pending.pop(parameters["requestId"], None)
            self.unread.add(parameters["requestId"])
        elif method in ("Network.loadingFinished", "Network.loadingFailed"):
            self.transferred += parameters.get("encodedDataLength", 0)
            self.pending.pop(parameters["requestId"], None)
            self.unread.discard(parameters["requestId"])

    # MARK: what a test does

    def open(self, url):
        self.command("Page.navigate", url=url)

    def js(self, expression):
        answer = self.command("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", expression))
        return answer["result"].get("value")

    def wait(self, expression, what=None, seconds=20):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                value = self.js(f"!!({expression})")
                if value:
                    return value
            except RuntimeError:
                pass
            time.sleep(0.05)
        raise AssertionError(f"never came true: {what or expression}")

    def settle(self, seconds=20):
        """Waits until no request is under way but those that a test holds, and what they led to is on the page and has stopped moving."""
        deadline, quiet = time.monotonic() + seconds, 0
        while quiet < (20 if self.unread else 2):
            assert time.monotonic() < deadline, f"the page does not settle: {list(self.pending.values())}"
            quiet = quiet + 1 if self.js(QUIET) and not self.pending else 0
        self.unread.clear()

    # MARK: a network that is slow, gone or lies

    def hold(self, pattern):
        """Holds requests of this address until they are let go; `held` lists them in their order."""
        self.paused = []
        self.command("Fetch.enable", patterns=[{"urlPattern": pattern}])

    def held(self, count, seconds=20):
        deadline = time.monotonic() + seconds
        while len(self.paused) < count:
            assert time.monotonic() < deadline, f"{len(self.paused)} requests instead of {count}"
            self.js("0")
            time.sleep(0.02)
        return self.paused

    def resume(self, request, method, **parameters):
        """Goes on with a held request, unless the page has ended it."""
        self.pending[request["networkId"]] = request["request"]["url"]
        try:
            self.command(method, requestId=request["requestId"], **parameters)
        except RuntimeError:
            self.pending.pop(request["networkId"], None)

    def let_go(self, request):
        self.resume(request, "Fetch.continueRequest")

    def answer(self, request, status, body, kind="application/json"):
        self.resume(
            request, "Fetch.fulfillRequest", responseCode=status, responseHeaders=[{"name": "Content-Type", "value": kind}],
            body=base64.b64encode(body.encode()).decode())

    def fail(self, request):
        """Ends the request as one that no server answered."""
        self.command("Fetch.failRequest", requestId=request["requestId"], errorReason="ConnectionRefused")

    def let_all_go(self):
        """Ends holding; whatever is held goes on."""
        for request in self.paused:
            self.let_go(request)
        self.command("Fetch.disable")
        self.paused = []

    def offline(self, is_offline):
        self.command("Network.emulateNetworkConditions", offline=is_offline, latency=0, downloadThroughput=-1, uploadThroughput=-1)

    def before_load(self, script):
        """Runs the script in each new page before its own; the result takes it away."""
        return self.command("Page.addScriptToEvaluateOnNewDocument", source=script)["identifier"]

    def no_longer_before_load(self, identifier):
        self.command("Page.removeScriptToEvaluateOnNewDocument", identifier=identifier)

    # MARK: what a reader does

    def click(self, selector):
        self.wait(f"document.querySelector({json.dumps(selector)})")
        self.js(f"document.querySelector({json.dumps(selector)}).click()")

    def key(self, key, code=None, shift=False, alt=False):
        text = key if len(key) == 1 else "\r" if key == "Enter" else None
        number = {"Enter": 13, "Escape": 27, "Tab": 9, "Backspace": 8, "ArrowLeft": 37, "ArrowUp": 38, "ArrowDown": 40}.get(key, ord(key.upper()) if len(key) == 1 else 0)
        down = {"type": "keyDown", "modifiers": (8 if shift else 0) | (1 if alt else 0), "key": key, "code": code or key, "windowsVirtualKeyCode": number}
        if text:
            down["text"] = text
        self.command("Input.dispatchKeyEvent", **down)
        self.command("Input.dispatchKeyEvent", **dict(down, type="keyUp"))

    def type(self, text):
        self.command("Input.insertText", text=text)

    def look(self, width=1320, height=900, dark=False, mobile=False):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def screenshot(self, path):
        self.settle()
        pathlib.Path(path).write_bytes(base64.b64decode(self.command("Page.captureScreenshot")["data"]))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
