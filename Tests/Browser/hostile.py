"""Words of other people: addresses, names and values that want to be more than text."""
import json
import urllib.parse

from walk import step

ZERO = "00000000-0000-0000-0000-000000000000"


@step
def addresses(walk):
    """No address breaks the page or makes it do anything; what means nothing is said to mean nothing."""
    b = walk.browser
    b.tolerated = ["status of 4"]
    img = urllib.parse.quote('"><img src=x onerror=alert(1)>')
    for hash in [
            "trail?from=rubbish", "trail?from=2026-02-31", "trail?to=%22%3E", "trail?from=2026-11-02&to=2026-11-01", f"trail?from={'9' * 3000}",
            "trail?from=-271821-04-20T00:00:00Z", "trail?from=+275760-09-13T00:00:01.000Z"]:
        walk.view(hash, "document.querySelector('.more [role=alert] p')?.textContent")
        assert not b.js("document.querySelectorAll('tr[data-n]').length"), hash
    walk.view("trail?from=rubbish", "document.querySelector('input[name=from]').getAttribute('aria-invalid') === 'true'")
    walk.shot("rubbish")
    for hash in [
            "constructor", "__proto__", "toString?x=y", "", "%", "trail?open=../../auth/logout/1", f"trail?open={img}/1", f"trail?open={ZERO}/1e9",
            f"trail?open={ZERO}/999999999999999999", f"trail?family_id={img}", f"trail?kind={img}", f"trail?q={img}", "trail?q=%00", f"trail?q={'a' * 4000}",
            f"trail?actor_id={img}&subject_id=x&trace_id=%FF&person_id=__proto__", f"consents?family_id={img}", f"decisions?operation={img}",
            f"policies?{img}={img}", f"constraints?edit={img}", "constraints?edit=__proto__", f"executions?result={img}", f"drafts?state={img}", f"moderation?report={img}",
            "trail?limit=-1&cursor=zzz&open=", "trail?kind=constructor", f"trail?from=2026-11-01&from={img}"]:
        b.open("about:blank")
        b.open(f"{walk.base}/console#/{hash}")
        b.wait("document.querySelector('#main h1') && !document.querySelector('#main > .skeleton')", hash)
        b.settle()
        assert b.js("[...document.images].every((image) => image.src.endsWith('/console/icon.svg')) && document.scripts.length === 1"), hash
    b.tolerated = []


NAMES = ["Person ", " ", "\u200b", "\u202eevil", "<img src=x onerror=alert(1)>", "=HYPERLINK(\"http://x\")", "W" * 255, "Person 00000000", "😀", "e\u0301" * 60]


@step
def any_stored_name(walk):
    """Whatever a member is called in the database, the audit log is shown."""
    b = walk.browser
    member, name = walk.sql("SELECT u.id || ' ' || u.display_name FROM users u WHERE email = 'walter@example.com'").split(" ", 1)
    try:
        for hostile in NAMES:
            walk.sql("UPDATE users SET display_name = '%s' WHERE id = '%s'" % (hostile.replace("'", "''"), member))
            b.open("about:blank")
            walk.audit_log(f"?person_id={member}", 3)
            assert b.js("document.documentElement.scrollWidth <= innerWidth"), f"{hostile!r} is wider than the page"
            assert b.js("document.images.length") == 1 and b.js("[...document.querySelectorAll('.avatar')].every((one) => one.textContent || one.firstChild)")
            b.click("tr[data-n]")
            b.wait("document.querySelector('#verdict.good')", f"an entry of {hostile!r}")
        walk.shot("hostile-name")
        b.look(390, 844, mobile=True)
        walk.view("consents", "document.querySelectorAll('.consent').length > 3")
        assert b.js("document.documentElement.scrollWidth") <= 390
        b.look()
    finally:
        walk.sql("UPDATE users SET display_name = '%s' WHERE id = '%s'" % (name, member))


@step
def formulas(walk):
    """A kind that a spreadsheet would run is text in the export."""
    walk.audit_log(least=5)
    family, number = walk.browser.js("(() => { const row = document.querySelector('tr[data-n]'); return row.dataset.family + ' ' + row.dataset.n })()").split()
    kind = walk.sql(f"SELECT kind FROM audit_entry WHERE family_id = '{family}' AND n = {number}")
    walk.tamper(family, number, "kind = '=cmd|'' /C calc''!A0'")
    try:
        token = walk.token(walk.options.guardian)["access_token"]
        request = walk.opener.open(_request(walk, "/audit/events/export?format=csv", token))
        lines = request.read().decode().split("\r\n")
        assert any("\"'=cmd|" in line for line in lines) and not any('"=' in line for line in lines)
    finally:
        walk.tamper(family, number, f"kind = '{kind}'")


def _request(walk, path, token):
    import urllib.request
    return urllib.request.Request(f"{walk.base}/api/v1{path}", headers={"Authorization": f"Bearer {token}"})


@step
def huge_values(walk):
    """Figures of any size fit."""
    b = walk.browser
    walk.view("overview", "document.querySelector('.plot .bar')")
    starts = [f"2026-11-{day:02}T05:00:00Z" for day in range(1, 23)]
    counts = [3, 5, 0, 4, 6, 2, 9_999_999_999, 5, 3, 4, 2, 1, 0, 5, 6, 4, 3, 2, 1, 4, 5, 6]
    body = {"from": starts[0], "to": "2026-11-23T05:00:00Z", "time_zone": "America/New_York", "unit": "day", "starts": starts,
            "series": [{"kind": "nag.created", "counts": counts}, {"kind": "<b>", "counts": [0] * 22}], "is_partial": True}
    b.hold("*/api/v1/audit/activity?*")
    b.js("[...document.querySelectorAll('.cardhead button')].find((one) => one.textContent === '7 days').click()")
    b.answer(b.held(1)[0], 200, json.dumps(body))
    b.wait("document.querySelector('.plot .cutlabel')?.textContent.includes('9,999,999,999')", "the mark of a bar that is cut")
    tall = b.js("[...document.querySelectorAll('.plot .bar')].map((bar) => [...bar.querySelectorAll('rect:not(.hit)')].reduce((sum, part) => sum + part.getBoundingClientRect().height, 0))")
    assert sorted(tall)[-2] > 60, "a burst flattens the rest"
    b.let_all_go()
    walk.shot("burst")
