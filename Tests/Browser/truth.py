"""The state of the audit log: one for pill, card and verdict, whatever the server, the network or a forger does."""
import json
import subprocess

from constraints import button, tab_to
from measures import check_look
from walk import step

SEALED = ("good", "Audit log sealed")


def row(walk, at=5):
    family, number = walk.browser.js(
        f"(() => {{ const row = document.querySelectorAll('tr[data-n]')[{at}]; return row.dataset.family + ' ' + row.dataset.n }})()").split()
    return family, int(number)


def note(walk):
    """Notes the findings of this browser. The seal is never green before the server's own findings are acknowledged."""
    b = walk.browser
    b.js("globalThis.tones = [document.querySelector('.pill').dataset.tone]; new MutationObserver(() => tones.push(document.querySelector('.pill').dataset.tone))"
         ".observe(document.querySelector('.pill'), {attributes: true})")
    b.js("[...document.querySelectorAll('.findings button')].find((one) => one.textContent.startsWith('I have noted')).click()")
    b.js("performance.clearResourceTimings()")
    b.wait(walk.AT_ONCE + "performance.getEntriesByType('resource').filter((one) => one.name.includes('/audit/log/checkpoint')).length > 1", "two rounds", 30)
    assert "good" not in b.js("tones"), b.js("tones")
    walk.pill("bad", "Tampering found")


def acknowledge(walk):
    """An administrator gives a reason for each finding that the server keeps, by keyboard; then the seal is green for everybody."""
    b = walk.browser
    walk.become(walk.options.admin)
    walk.view("overview", "document.querySelector('.findings form')")
    walk.pill("bad", "Tampering found")
    kept = "document.querySelectorAll('.findings article').length"
    b.tolerated = ["status of 422"]
    for left in range(b.js(kept), 0, -1):
        b.js("document.querySelector('.findings textarea').focus()")
        tab_to(walk, button("Acknowledge"))
        b.key("Enter")
        b.wait("document.activeElement.name === 'reason' && document.activeElement.getAttribute('aria-invalid') === 'true'", "a reason is needed")
        b.type(f"Put right by hand: {left}.")
        check_look(b)
        walk.shot("finding")
        tab_to(walk, button("Acknowledge"))
        b.key("Enter")
        b.wait(f"{kept} === {left - 1}", "the finding is acknowledged")
    b.tolerated = []
    walk.pill(*SEALED)
    assert b.js("document.querySelector('.seal').className") == "seal good"
    walk.become(walk.options.guardian)
    walk.view("overview", "document.querySelector('.seal.good')")
    walk.pill(*SEALED)


@step
def red_stays(walk):
    """One row is changed as the database's superuser. The page says which, everywhere at once, and goes on saying so when the
    row is put back, when the view changes and when the page is loaded again."""
    b = walk.browser
    walk.audit_log(least=20)
    walk.pill(*SEALED)
    family, number = row(walk)
    walk.tamper(family, number, "kind = kind || '.not'")
    try:
        walk.view(f"trail?open={family}/{number}", "document.querySelector('#verdict.bad')")
        assert b.js("document.querySelector('.steps .bad').textContent").startswith("The entry is as it was written")
        walk.pill("bad", "Tampering found", 1)
        walk.shot("tampered")
        walk.view("overview", "document.querySelector('.health .primary')")
        assert b.js("document.querySelector('.seal').className") == "seal bad"
        assert f"Entry {number}" in b.js("document.querySelector('.findings').textContent")
        b.click(".health .primary")
        b.wait("document.querySelector('.health .verdict.bad')", "a tampered verdict", 60)
        assert f"entry {number}" in b.js("document.querySelector('.health .verdict').textContent")
        walk.shot("tampered-overview")
        if walk.options.nagz:
            verify = [walk.options.nagz, "audit", "export", "--family", family, "--output", walk.options.artefacts / "tampered.ndjson"]
            subprocess.run(verify, check=True, stdout=subprocess.DEVNULL)
            said = subprocess.run(
                [walk.options.nagz, "audit", "verify", walk.options.artefacts / "tampered.ndjson", "--key", walk.options.key],
                capture_output=True, text=True)
            assert said.returncode == 1 and f"entry {number}" in said.stderr, said
    finally:
        walk.tamper(family, number, "kind = replace(kind, '.not', '')")
    b.js("performance.clearResourceTimings()")
    b.wait(walk.AT_ONCE + "performance.getEntriesByType('resource').filter((one) => one.name.includes('/health/ready')).length > 1", "a round", 30)
    walk.pill("bad")
    b.open("about:blank")
    walk.view("overview", "document.querySelector('.seal.bad')")
    walk.pill("bad")
    note(walk)
    acknowledge(walk)


@step
def verify_turns_the_seal(walk):
    """The seal beside a red verdict of the whole audit log is red in the same moment."""
    b = walk.browser
    walk.audit_log(least=20)
    family, number = row(walk)
    walk.tamper(family, number, "kind = kind || '.not'")
    try:
        walk.view("overview", "document.querySelector('.seal.good')")
        b.click(".health .primary")
        b.wait("document.querySelector('.health .verdict.bad')", "a tampered verdict", 60)
        assert b.js("[document.querySelector('.seal').className, document.querySelector('.pill').dataset.tone]") == ["seal bad", "bad"]
    finally:
        walk.tamper(family, number, "kind = replace(kind, '.not', '')")
    acknowledge(walk)


@step
def offline(walk):
    """Without an answer nothing is green, and the page says since when."""
    b = walk.browser
    b.tolerated = ["net::ERR_"]
    walk.view("overview", "document.querySelector('.seal.good')")
    b.offline(True)
    walk.pill("open", "Server unreachable")
    assert b.js("document.querySelector('.seal').className") == "seal open"
    assert "Last heard at" in b.js("document.querySelector('.healthtext p').textContent")
    walk.shot("offline")
    b.offline(False)
    walk.pill(*SEALED)
    b.tolerated = []


@step
def state_of_the_past(walk):
    """A page that has slept shows no state of the past as one of now."""
    b = walk.browser
    walk.view("overview", "document.querySelector('.seal.good')")
    b.hold("*/health/ready")
    b.js("(() => { const now = Date.now; const start = now(); Date.now = () => now() + 60000; globalThis.wakeUp = () => { Date.now = now } })()")
    walk.pill("open", None, 30)
    assert b.js("document.querySelector('.pill').textContent") in ("State is old", "Server unreachable")
    b.js("wakeUp()")
    b.let_all_go()
    walk.pill(*SEALED)
    # A checkpoint of the past is no seal, whatever the server says of it.
    b.js("(() => { const now = Date.now; Date.now = () => now() + 20 * 60000; globalThis.wakeUp = () => { Date.now = now } })()")
    walk.pill("open", "Checkpoint is old")
    b.js("wakeUp()")
    walk.pill(*SEALED)


@step
def another_log(walk):
    """An address that shows another log than it did is no seal, though its signature is good."""
    b = walk.browser
    b.js("(() => { const name = Object.keys(localStorage).find((one) => one.startsWith('nagz.key.')); localStorage['nagz.key.other.example/log'] = localStorage[name]; localStorage.removeItem(name) })()")
    b.open("about:blank")
    walk.view("overview", "document.querySelector('.seal.bad')")
    walk.pill("bad", "Another log")
    b.js("localStorage.removeItem('nagz.key.other.example/log'); [...document.querySelectorAll('.findings button')].at(-1).click()")
    walk.pill(*SEALED)


@step
def state_against_the_audit_log(walk):
    """What the server's background check finds is red, and its progress is shown."""
    b = walk.browser
    status = walk.call("GET", "/audit/status", token=walk.token(walk.options.guardian)["access_token"])
    status["check"] = {
        "state": "explained", "started_at": "2026-11-22T10:00:00Z", "families": 7, "entries": 1234, "findings": 0,
        "last_finished_at": "2026-11-22T09:00:00Z", "last_families": 25, "last_entries": 98765, "last_findings": 0, "first_finding": None}
    b.hold("*/api/v1/audit/status")
    walk.view("trail", "document.querySelector('.auditlog')")
    walk.view("overview", "document.querySelector('.seal.good')")
    b.js(walk.AT_ONCE + "0")
    b.answer(b.held(1)[0], 200, json.dumps(status))
    b.wait("document.querySelector('.facts').textContent.includes('98,765 entries of 25 families')")
    assert "1,234 entries of 7 families so far" in b.js("document.querySelector('.facts').textContent")
    b.let_all_go()
    b.hold("*/health/ready")
    b.js(walk.AT_ONCE + "0")
    b.answer(b.held(1)[0], 200, '{"status":"ok","audit_log":"current","audit_state":"unexplained"}')
    walk.pill("bad", "State not explained")
    b.let_all_go()
    b.js("[...document.querySelectorAll('.findings button')].at(-1).click()")
    walk.pill(*SEALED)


@step
def forged_checkpoint(walk):
    """A checkpoint that no trusted key has signed, and a log that does not go on from the one seen before."""
    b = walk.browser
    walk.view("overview", "document.querySelector('.seal.good')")
    b.hold("*/api/v1/audit/log/checkpoint")
    note = walk.opener.open(walk.base + "/api/v1/audit/log/checkpoint").read().decode()
    lines = note.split("\n")
    b.js(walk.AT_ONCE + "0")
    b.answer(b.held(1, 30)[0], 200, "\n".join([lines[0], str(int(lines[1]) + 1), *lines[2:]]), "text/plain")
    walk.pill("bad", "Forged checkpoint")
    b.let_all_go()
    b.js("[...document.querySelectorAll('.findings button')].at(-1).click()")
    walk.pill(*SEALED)
    # What this browser remembers is another history than the one it is shown.
    between_rounds(walk, "(() => { const name = Object.keys(localStorage).find((one) => one.startsWith('nagz.seen.')); const seen = JSON.parse(localStorage[name]); "
         "globalThis.real = [name, localStorage[name]]; seen.size -= 3; seen.root = '00'.repeat(32); localStorage[name] = JSON.stringify(seen) })()")
    walk.pill("bad", "Log was rewritten")
    walk.shot("rewritten")
    between_rounds(walk, "localStorage[real[0]] = real[1]; [...document.querySelectorAll('.findings button')].at(-1).click()")
    walk.pill(*SEALED)


def between_rounds(walk, script):
    """Runs the script while a round has only begun: one that has compared already writes what it knows over the script's."""
    b = walk.browser
    b.hold("*/health/ready")
    b.js(walk.AT_ONCE + "0")
    b.held(1)
    b.js(script)
    b.let_all_go()


@step
def no_cryptography(walk):
    """Over plain HTTP, and without Ed25519, nothing can be checked: that is no tampering, and no seal."""
    b = walk.browser
    walk.audit_log(least=20)
    family, number = row(walk)
    b.tolerated = ["Cross-Origin-Opener-Policy header has been ignored"]
    base, walk.base = walk.base, walk.base.replace("127.0.0.1", "console.test").replace("localhost", "console.test")
    b.open(walk.base + "/console")
    b.wait("document.getElementById('email')")
    assert not b.js("isSecureContext || !!crypto.subtle"), "this is a secure context"
    walk.sign_in(*walk.options.guardian)
    walk.pill("open", "Not checked here")
    walk.shot("no-cryptography")
    walk.view(f"trail?open={family}/{number}", "document.querySelector('#verdict.unknown')")
    assert b.js("document.querySelector('#verdict strong').textContent") == "Cannot be checked here"
    assert not b.js("document.querySelector('.steps .bad')")
    walk.shot("no-cryptography-entry")
    b.js("document.querySelector('.drawer .copy').click()")
    b.wait("document.querySelector('.toast.bad')", "what copying needs")
    walk.base = base
    script = b.before_load(
        "const real = crypto.subtle.importKey.bind(crypto.subtle); crypto.subtle.importKey = (format, key, kind, ...rest) => "
        "kind.name === 'Ed25519' ? Promise.reject(new DOMException('no', 'NotSupportedError')) : real(format, key, kind, ...rest);")
    walk.view(f"trail?open={family}/{number}", "document.querySelector('#verdict.unknown')")
    assert b.js("document.querySelectorAll('.steps .good').length") == 3 and not b.js("document.querySelector('.steps .bad')")
    walk.pill("open", "Not checked here")
    b.no_longer_before_load(script)
    b.tolerated = []
    b.open("about:blank")
    walk.view("overview", "document.querySelector('.seal.good')")


@step
def busy_is_no_end(walk):
    """A server that answers 503 signs nobody out."""
    b = walk.browser
    b.tolerated = ["status of 503"]
    busy = '{"error":{"code":"unavailable","message":"The server is busy."}}'
    b.open("about:blank")
    b.hold("*/api/v1/audit/status")
    b.open(walk.base + "/console#/trail")
    b.answer(b.held(1)[0], 503, busy)
    b.wait("document.querySelector('.waiting')", "a page that waits")
    assert b.js("document.querySelector('.waiting .problem').textContent") == "The server is busy."
    walk.shot("busy")
    b.let_all_go()
    b.click(".waiting .primary")
    b.wait("document.querySelectorAll('tr[data-n]').length > 20", "the audit log")
    # An access token that has run out while the server is busy.
    b.js("(() => { const session = JSON.parse(sessionStorage['nagz.session']); session.access = session.access.slice(0, -6) + 'AAAAAA'; sessionStorage['nagz.session'] = JSON.stringify(session) })()")
    b.open("about:blank")
    b.hold("*/api/v1/auth/refresh")
    b.open(walk.base + "/console#/trail")
    b.answer(b.held(1)[0], 503, busy)
    b.wait("document.querySelector('.waiting')", "a page that waits")
    assert b.js("sessionStorage['nagz.session'] !== undefined")
    b.let_all_go()
    b.click(".waiting .primary")
    b.wait("document.querySelectorAll('tr[data-n]').length > 20", "the audit log")
    b.tolerated = []


@step
def one_loop(walk):
    """Signing out and in again makes no second loop."""
    b = walk.browser
    for _ in range(3):
        walk.sign_out()
        walk.sign_in(*walk.options.guardian)
    b.js("performance.clearResourceTimings()")
    rounds = "performance.getEntriesByType('resource').filter((one) => one.name.includes('/health/ready')).map((one) => one.startTime)"
    # The overview begins one round early.
    b.wait(f"{rounds}.length >= 3", "three rounds", 60)
    times = b.js(rounds)
    assert times[-1] - times[-2] > 9_000, times
