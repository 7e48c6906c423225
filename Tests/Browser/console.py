#!/usr/bin/env python3
"""Walks through the console as an administrator, a guardian and a forger's victim would, in Debian's Chromium.

console.py URL --admin EMAIL PASSWORD --guardian EMAIL PASSWORD --database URL --artefacts FOLDER [--nagz PROGRAM --key KEY]

Screenshots of each step stay in the folder. Every exception and every error in the browser's console fails the walk.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

from chromium import Browser

STEPS = []


def step(function):
    STEPS.append(function)
    return function


class Walk:
    def __init__(self, options, browser):
        self.options, self.browser, self.base = options, browser, options.url.rstrip("/")
        self.shots = 0

    def shot(self, name):
        self.shots += 1
        self.browser.screenshot(self.options.artefacts / f"{self.shots:02}-{name}.png")

    def sign_in(self, email, password):
        b = self.browser
        b.wait("document.activeElement?.id === 'email'", "the sign-in form")
        b.type(email)
        b.key("Tab")
        b.type(password)
        b.key("Enter")

    def sign_out(self):
        self.browser.click(".who")
        self.browser.wait("document.getElementById('email')")

    def sql(self, statement):
        subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", self.options.database, "-c", statement], check=True)


@step
def first_paint(walk):
    """The page before anybody is signed in, under 200 KB, with a strict policy."""
    b = walk.browser
    b.look()
    b.open(walk.base + "/console")
    b.wait("document.getElementById('email')", "the sign-in form")
    assert b.transferred < 200_000, b.transferred
    print(f"        first paint after {b.transferred / 1000:.0f} KB")
    walk.shot("sign-in")
    assert b.js("getComputedStyle(document.body).backgroundColor") == "rgb(245, 245, 248)", "the style sheet is not in use"
    assert b.js("(() => { try { document.body.innerHTML = 'x'; return false } catch { return true } })()"), "trusted types"
    b.problems = [problem for problem in b.problems if "TrustedHTML" not in problem]


@step
def wrong_password(walk):
    b = walk.browser
    walk.sign_in(walk.options.admin[0], "wrong")
    b.wait("!document.querySelector('.problem').hidden")
    b.open(walk.base + "/console")


@step
def admin_overview(walk):
    b = walk.browser
    walk.sign_in(*walk.options.admin)
    b.wait("document.querySelector('.healthtext h2')?.textContent === 'The trail is sealed'")
    b.wait("document.querySelector('.goodtext')", "the signature, checked here")
    b.wait("document.querySelectorAll('.plot .bar rect:not(.hit)').length > 20", "the plot")
    b.wait("document.querySelectorAll('.tiles .tile').length > 8", "the live figures")
    walk.shot("overview")
    b.look(dark=True)
    walk.shot("overview-dark")
    b.look()
    b.click(".health .primary")
    b.wait("document.querySelector('.health .verdict.good')", "a sound verdict", 60)


@step
def trail_by_keyboard(walk):
    """Everything a reader does, without a mouse."""
    b = walk.browser
    b.key("g")
    b.key("t")
    b.wait("document.querySelectorAll('tr[data-n]').length >= 100", "a page of entries")
    assert b.js("document.querySelector('table.trail').getAttribute('role')") == "grid"
    walk.shot("trail")
    before = b.js("document.querySelectorAll('tr[data-n]').length")
    b.js("scrollTo(0, document.body.scrollHeight)")
    b.wait(f"document.querySelectorAll('tr[data-n]').length > {before}", "the next page")
    b.js("scrollTo(0, 0)")
    for key in "jjjk":
        b.key(key)
    assert b.js("[...document.querySelectorAll('tr[data-n]')].indexOf(document.querySelector('tr[aria-selected=true]'))") == 1
    b.key("Enter")
    b.wait("document.querySelector('#verdict.good')", "a verified entry")
    b.key("Escape")
    b.wait("document.querySelector('.drawer').hidden")
    assert b.js("document.activeElement.dataset.n !== undefined"), "focus is back on the row"
    b.key("?")
    b.wait("document.querySelector('dialog[open]')")
    b.key("Escape")
    b.wait("!document.querySelector('dialog')")


@step
def filters(walk):
    b = walk.browser
    b.key("/")
    b.wait("document.activeElement.id === 'q'")
    b.type("excuse")
    b.key("Enter")
    b.wait("[...document.querySelectorAll('.kind')].length > 3 && [...document.querySelectorAll('.kind')].every((kind) => kind.textContent.includes('excuse'))")
    b.open(walk.base + "/console#/trail")
    b.wait("document.querySelector('select[name=kind]')")
    b.js("(() => { const kind = document.querySelector('select[name=kind]'); kind.value = 'consent.granted'; kind.dispatchEvent(new Event('change')) })()")
    b.wait("location.hash.includes('kind=consent.granted')")
    b.wait("document.querySelectorAll('tr[data-n]').length > 0 && [...document.querySelectorAll('.kind')].every((kind) => kind.textContent === 'consent.granted')")


@step
def one_decision(walk):
    """An AI decision is found, verified, and followed by its trace."""
    b = walk.browser
    b.open(walk.base + "/console#/decisions")
    b.wait("document.querySelectorAll('.decision').length > 10", "the decisions")
    walk.shot("decisions")
    b.click(".decision .button.small")
    b.wait("document.querySelector('#verdict.good')", "a verified decision")
    assert b.js("document.querySelectorAll('.steps .good').length") >= 5
    walk.shot("decision")
    b.click(".drawer .actions a")
    b.wait("location.hash.includes('trace_id=')")
    b.wait("document.querySelectorAll('tr[data-n]').length >= 1", "the trace's entries")
    walk.shot("trace")


@step
def consents(walk):
    b = walk.browser
    b.open(walk.base + "/console#/consents")
    b.wait("document.querySelectorAll('.history li').length > 2", "the history of consents")
    walk.shot("consents")


@step
def narrow(walk):
    b = walk.browser
    b.look(390, 844, dark=True, mobile=True)
    for view in ("overview", "trail", "decisions", "consents"):
        b.open(walk.base + f"/console#/{view}")
        b.wait("document.querySelector('h1')")
        time.sleep(0.6)
        assert b.js("document.documentElement.scrollWidth") <= 390, f"{view} is wider than the screen"
        walk.shot(f"phone-{view}")
    b.look()


@step
def guardian(walk):
    """A guardian sees names, their own family and no other."""
    b = walk.browser
    walk.sign_out()
    walk.sign_in(*walk.options.guardian)
    b.wait("document.querySelector('.healthtext')", "the overview")
    b.open(walk.base + "/console#/trail")
    b.wait("document.querySelectorAll('tr[data-n]').length >= 50")
    assert not b.js("document.querySelector('select[name=family_id]')")
    assert b.js("[...document.querySelectorAll('.person')].some((person) => !person.textContent.includes('Person'))"), "names"
    walk.shot("guardian")


@step
def export(walk):
    b = walk.browser
    b.click("#export")
    b.wait("document.querySelector('.toast.good')", "the end of the export", 60)
    deadline = time.monotonic() + 20
    while not (files := list(walk.options.artefacts.glob("nagz-trail-*.ndjson"))):
        assert time.monotonic() < deadline, "no file"
        time.sleep(0.1)
    lines = files[0].read_text().splitlines()
    assert "header" in json.loads(lines[0]) and "end" in json.loads(lines[-1])
    if walk.options.nagz:
        subprocess.run([walk.options.nagz, "audit", "verify", files[0], "--key", walk.options.key], check=True)


@step
def tampered(walk):
    """One row is changed as the database's superuser: the page says which."""
    b = walk.browser
    row = b.js("(() => { const row = document.querySelectorAll('tr[data-n]')[5]; return row.dataset.family + ' ' + row.dataset.n })()")
    family, number = row.split()
    change = "ALTER TABLE audit_entry DISABLE TRIGGER ALL; UPDATE audit_entry SET {} WHERE family_id = '%s' AND n = %s; " \
        "ALTER TABLE audit_entry ENABLE ALWAYS TRIGGER append_only; ALTER TABLE audit_entry ENABLE ALWAYS TRIGGER append_only_truncate; " \
        "ALTER TABLE audit_entry ENABLE ALWAYS TRIGGER only_pruned" % (family, number)
    walk.sql(change.format("kind = kind || '.not'"))
    try:
        b.open(walk.base + f"/console#/trail?open={number}")
        b.wait("document.querySelector('#verdict.bad')", "a red verdict")
        assert b.js("document.querySelector('.steps .bad').textContent").startswith("The entry is as it was written")
        walk.shot("tampered")
        b.open(walk.base + "/console#/overview")
        b.wait("document.querySelector('.health .primary')")
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
        walk.sql(change.format("kind = replace(kind, '.not', '')"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--admin", nargs=2, required=True)
    parser.add_argument("--guardian", nargs=2, required=True)
    parser.add_argument("--database", required=True)
    parser.add_argument("--artefacts", type=pathlib.Path, required=True)
    parser.add_argument("--chromium", default="chromium")
    parser.add_argument("--nagz")
    parser.add_argument("--key")
    options = parser.parse_args()
    options.artefacts = options.artefacts.resolve()
    options.artefacts.mkdir(parents=True, exist_ok=True)
    for old in [*options.artefacts.glob("*.png"), *options.artefacts.glob("*.ndjson")]:
        old.unlink()
    with Browser(options.chromium, options.artefacts) as browser:
        walk = Walk(options, browser)
        for one in STEPS:
            started = time.monotonic()
            try:
                one(walk)
            except Exception as problem:
                walk.shot(f"failed-{one.__name__}")
                print(f"error: {one.__name__}: {problem}; {browser.problems}")
                return 1
            if browser.problems:
                print(f"error: {one.__name__}: the browser says {browser.problems}")
                return 1
            print(f"ok      {one.__name__} {time.monotonic() - started:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
