"""What every step of the walk through the console works with."""
import contextlib
import json
import subprocess
import time
import urllib.error
import urllib.request

STEPS = []

# A function that follows a link within the page, and returns once the page has heard of it.
GO = """(hash) => new Promise((done) => {
    const before = location.href;
    location.hash = hash;
    if (location.href === before) done(); else addEventListener('hashchange', () => setTimeout(done), {once: true});
});"""


def step(function):
    """A step of the walk, in the order in which they are written."""
    STEPS.append(function)
    return function


class Walk:
    def __init__(self, options, browser, shots=0):
        self.options, self.browser, self.base, self.shots = options, browser, options.url.rstrip("/"), shots
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def shot(self, name):
        self.shots += 1
        self.browser.screenshot(self.options.artefacts / f"{self.shots:02}-{name}.png")

    def downloaded(self, pattern):
        """The text of a file that the page has saved."""
        deadline = time.monotonic() + 20
        while not (files := list(self.options.artefacts.glob(pattern))):
            assert time.monotonic() < deadline, f"no {pattern}"
            time.sleep(0.1)
        return files[0].read_bytes().decode()

    # MARK: the page

    def sign_in(self, email, password):
        b = self.browser
        b.wait("document.activeElement?.id === 'email'", "the sign-in form")
        b.type(email)
        b.key("Tab")
        b.type(password)
        b.key("Enter")
        b.wait("document.querySelector('.pill')", "the shell")

    def sign_out(self):
        self.browser.click(".who")
        self.browser.wait("document.getElementById('email')")

    def become(self, person):
        """Signs out and in as somebody else, in a page that remembers nothing."""
        b = self.browser
        b.js("sessionStorage.clear(); localStorage.clear()")
        b.open("about:blank")
        b.open(self.base + "/console")
        self.sign_in(*person)

    def view(self, hash, ready):
        """Goes to a view; in a page that is loaded, as a link would, and not before the page has heard of it."""
        if self.browser.js("location.href").startswith(self.base + "/console"):
            self.browser.js(f"(() => {{ const go = {GO} return go({json.dumps('#/' + hash)}) }})()")
        else:
            self.browser.open(f"{self.base}/console#/{hash}")
        self.browser.wait(ready, f"#/{hash}: {ready}")

    def audit_log(self, query="", least=1):
        self.view(f"trail{query}", f"document.querySelectorAll('tr[data-n]').length >= {least}")

    def pill(self, tone, word=None, seconds=30):
        says = f" && document.querySelector('.pill').textContent === {json.dumps(word)}" if word else ""
        self.browser.wait(self.AT_ONCE + f"document.querySelector('.pill')?.dataset.tone === '{tone}'{says}", f"a pill that is {tone}, {word}", seconds)

    # A page that comes back into view asks at once: tests need not wait for the next round.
    AT_ONCE = "document.dispatchEvent(new Event('visibilitychange')), "

    # MARK: behind the page

    def sql(self, statement):
        """Acts as the database's superuser."""
        done = subprocess.run(
            ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", self.options.database, "-c", statement], check=True, capture_output=True, text=True)
        return done.stdout.strip()

    @contextlib.contextmanager
    def as_participant(self, guardian):
        """One of the family's guardians is a participant meanwhile."""
        role = f"UPDATE memberships SET role = '{{}}' WHERE user_id = (SELECT id FROM users WHERE email = '{guardian[0]}')"
        self.sql(role.format("participant"))
        try:
            yield
        finally:
            self.sql(role.format("guardian"))

    def call(self, method, path, body=None, token=None):
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        request = urllib.request.Request(
            f"{self.base}/api/v1{path}", method=method, headers=headers, data=json.dumps(body).encode() if body is not None else None)
        try:
            with self.opener.open(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            raise AssertionError(f"{method} {path}: {refusal.code} {refusal.read()[:300]}") from None

    def token(self, person):
        return self.call("POST", "/auth/login", {"email": person[0], "password": person[1]})

    TRIGGERS = "ALTER TABLE audit_entry ENABLE ALWAYS TRIGGER append_only; " \
        "ALTER TABLE audit_entry ENABLE ALWAYS TRIGGER append_only_truncate; ALTER TABLE audit_entry ENABLE ALWAYS TRIGGER only_pruned"

    def tamper(self, family, number, change):
        """Changes a row of the audit log, as somebody could who owns the database; between two passes of the server's background
        check, which would remember what the test puts back."""
        deadline = time.monotonic() + 300
        while self.sql("SELECT started_at IS NULL AND finished_at IS NOT NULL FROM audit_pass") != "t":
            assert time.monotonic() < deadline, "the background check does not come to an end"
            time.sleep(0.5)
        self.sql(
            f"ALTER TABLE audit_entry DISABLE TRIGGER ALL; UPDATE audit_entry SET {change} "
            f"WHERE family_id = '{family}' AND n = {number}; {self.TRIGGERS}")
