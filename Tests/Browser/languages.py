"""The console in German and Spanish: every text has its translation, and the longest ones fit. The page about the API is English."""
import json
import re

from looks import VIEWS, open_first
from measures import CUT_OFF, IN_ONE_LINE, unnamed
from pages import admin_views
from walk import step

LANGUAGES = {"de": ("de-DE,de", "Prüfwert"), "es": ("es-ES,es", "contraseña")}
# What the server says of an address that is none, as the console shows it.
REFUSALS = {"de": "E-Mail-Adresse: muss die Form name@example.com haben.", "es": "Correo electrónico: debe tener la forma name@example.com."}
REFUSED = """fetch('/api/v1/auth/login', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({email: 'nobody', password: 'a password of none'})})
    .then((response) => response.json()).then(({error}) => import('/console/language.js').then(({said}) => said(error.message)))"""
# The rows of all lists.
ROWS = "import('/console/language.js').then(({lists}) => Promise.all(lists.map((name) => import(`/console/${name}.js`)))).then((all) => all.flatMap((one) => one.default))"
# Texts on the page that are neither translations nor other people's words: the log's kinds and ids are code.
UNTRANSLATED = """(async () => {
    const rows = await %s;
    const source = (text) => `^${text.replace(/[.*+?^$()|[\\]\\\\]/g, '\\\\$&').replace(/\\{#?\\d\\}/g, '.+?')}$`;
    const known = new Set(rows.flatMap((row) => row[COLUMN].includes('{') ? [] : [row[COLUMN]]));
    const patterns = rows.filter((row) => row[COLUMN].includes('{')).map((row) => new RegExp(source(row[COLUMN]), 's'));
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = new Set();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const text = node.data.trim();
        if (!/\\p{L}{2}/u.test(text) || !node.parentElement.checkVisibility() || node.parentElement.closest('bdi, code, kbd, time, textarea, script, noscript, .day, .kind, .words, .plot, .zone, .brand, .steps small, .rule b, .tile strong small')) continue;
        if (!known.has(text) && !patterns.some((one) => one.test(text))) found.add(text);
    }
    return [...found];
})()""" % ROWS
# What Intl writes, units, and names of things that have no other name.
NEUTRAL = re.compile(r"^(vor|hace|dentro de|in) .*|^ahora$|^jetzt$|^[\d.,\s  ]+ ?(ms|MB|s|%|1/s|Tage?|Stunden?|Minuten?|Sekunden?|días?|horas?|minutos?|segundos?).*$|^Nagz$|^nagz\.local/.*|^UTC$|^heuristic$|^[0-9a-f]{8}$", re.S)


def check_navigation(walk, what, word):
    """The views are in one line on screens from a laptop's on, also beside the longest word about the log's state."""
    b = walk.browser
    beside = f"(() => {{ const text = document.querySelector('.pill').lastChild, before = text.data; text.data = {json.dumps(word)}; const fits = {IN_ONE_LINE}; text.data = before; return fits }})()"
    b.wait("document.querySelector('.pill').lastChild", "the log's state")
    for width in (1720, 1320):
        b.look(width, 900)
        assert b.js(IN_ONE_LINE) and b.js(beside) and not b.js(CUT_OFF), f"{what}: the views do not fit into {width} pixels {b.js(CUT_OFF)}"
    b.look()


def untranslated(walk, column):
    found = walk.browser.js(UNTRANSLATED.replace("COLUMN", str(column)))
    return [text for text in found if not NEUTRAL.match(text)]


@step
def languages(walk):
    """Each row of the lists is whole; in each language no view shows English or is cut off, the navigation is one line, and controls have names."""
    b = walk.browser
    rows = b.js(ROWS)
    assert len(rows) > 500 and all(len(row) == 3 and all(text.strip() for text in row) for row in rows)
    values = re.compile(r"\{#?\d\}")
    assert all(sorted(values.findall(row[0])) == sorted(values.findall(text)) for row in rows for text in row), "values are lost"
    meanings = {}
    for row in rows:
        assert meanings.setdefault(row[0], row) == row, f"two translations: {meanings[row[0]]}, {row}"
    agent = b.js("navigator.userAgent")
    try:
        for column, (name, (accepted, word)) in enumerate(LANGUAGES.items(), 1):
            assert any(word in row[column] for row in rows)
            missing = set()
            b.command("Network.setUserAgentOverride", userAgent=agent, acceptLanguage=accepted)
            walk.become(walk.options.guardian)
            assert b.js("document.documentElement.lang") == name
            b.tolerated = ["status of 422"]
            refused = b.js(REFUSED)
            b.tolerated = []
            assert refused == REFUSALS[name], refused
            oldest = next(row[column] for row in rows if row[0] == "Checkpoint is old")
            check_navigation(walk, f"{name}, guardian", oldest)
            # The longest words on the smallest screen.
            b.look(390, 900, mobile=True)
            for view, ready in VIEWS.items():
                walk.view(view, ready)
                b.settle()
                missing.update(untranslated(walk, column))
                assert b.js("document.documentElement.scrollWidth <= innerWidth") and not b.js(CUT_OFF), f"{name}, {view}: {b.js(CUT_OFF)}"
            assert not unnamed(b), unnamed(b)
            walk.shot(f"phone-{name}")
            walk.view("policies", VIEWS["policies"])
            assert {"de": "Kind", "es": "niño o niña"}[name] in b.js("document.querySelector('[data-part=members]').innerText"), "a translation was translated again"
            open_first(walk)
            missing.update(untranslated(walk, column))
            b.look()
            walk.become(walk.options.admin)
            check_navigation(walk, f"{name}, administrator", oldest)
            for view, ready in {"overview": "document.querySelectorAll('.tile').length > 8", **admin_views(walk)}.items():
                walk.view(view, ready)
                missing.update(untranslated(walk, column))
            b.look(390, 900, mobile=True)
            b.open(walk.base + "/reset-password")
            b.wait(f"document.documentElement.lang === '{name}' && document.readyState === 'complete'", "a forgotten password")
            missing.update(untranslated(walk, column))
            assert not b.js(CUT_OFF), b.js(CUT_OFF)
            b.look()
            assert not missing, f"{name}: {sorted(missing)}"
            b.open(walk.base + "/docs")
            b.wait("document.querySelectorAll('.index a').length > 100 && document.documentElement.lang === 'en'", "the API in English")
            assert "Sign in" in b.js("document.querySelector('main').innerText")
    finally:
        b.command("Network.setUserAgentOverride", userAgent=agent, acceptLanguage="en-GB,en")
        b.look()
    walk.become(walk.options.guardian)
    check_navigation(walk, "en, guardian", "Checkpoint is old")
