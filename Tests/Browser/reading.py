"""Reading the audit log: what everybody does, by keyboard too."""
import json
import secrets
import subprocess

from walk import step


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
    b.wait("document.activeElement?.id === 'email'")
    b.type(walk.options.admin[0])
    b.key("Tab")
    b.type("wrong")
    b.key("Enter")
    b.wait("document.querySelector('.problem') && !document.querySelector('.problem').hidden")
    b.open(walk.base + "/console")


@step
def admin_overview(walk):
    b = walk.browser
    walk.sign_in(*walk.options.admin)
    b.wait("document.querySelector('.healthtext h2')?.textContent === 'The audit log is sealed'")
    b.wait("document.querySelector('.goodtext')", "the signature, checked here")
    walk.pill("good", "Audit log sealed")
    b.wait("document.querySelectorAll('.plot .bar rect:not(.hit)').length > 20", "the plot")
    b.wait("document.querySelectorAll('.tiles .tile').length > 8", "the live figures")
    walk.shot("overview")
    b.look(dark=True)
    walk.shot("overview-dark")
    b.look()
    b.click(".health .primary")
    b.wait("document.querySelector('.health .verdict.good')", "a sound verdict", 60)


@step
def plot_by_keyboard(walk):
    """One stop for the Tab key, then the arrows; Enter reads the entries of a bar."""
    b = walk.browser
    assert b.js("document.querySelectorAll('.plot .bar[tabindex=\"0\"]').length") == 1
    b.js("document.querySelector('.plot .bar[tabindex=\"0\"]').focus()")
    b.key("ArrowLeft")
    b.wait("!document.querySelector('.tip').hidden && document.activeElement.matches('.bar[tabindex=\"0\"]')")
    label = b.js("document.activeElement.getAttribute('aria-label')")
    b.key("Enter")
    b.wait("location.hash.includes('from=') && location.hash.includes('to=')")
    count = int(label.split(": ")[1].split(" ")[0])
    b.wait(f"document.querySelectorAll('tr[data-n]').length === {count}", f"the entries of {label}")
    b.js("history.back()")
    b.wait("document.querySelector('.plot')")


@step
def audit_log_by_keyboard(walk):
    """Everything a reader does, without a mouse."""
    b = walk.browser
    b.key("g")
    b.key("t")
    b.wait("document.querySelectorAll('tr[data-n]').length >= 100", "a page of entries")
    assert b.js("document.querySelector('table.auditlog').getAttribute('role')") == "grid"
    walk.shot("audit-log")
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
    b.wait("!document.querySelector('.drawer').open")
    assert b.js("document.activeElement.dataset.n !== undefined"), "focus is back on the row"
    b.key("?")
    b.wait("document.querySelector('dialog.help[open]')")
    b.key("Escape")
    b.wait("!document.querySelector('dialog.help')")


@step
def administrators_by_address(walk):
    b = walk.browser
    b.wait(f"[...document.querySelectorAll('.whofrom')].some((cell) => cell.textContent.includes({json.dumps(walk.options.admin[0])}))")
    assert b.js("document.querySelector('.who').textContent") == walk.options.admin[0]


@step
def kinds_come_from_the_server(walk):
    walk.audit_log()
    kinds = walk.call("GET", "/audit/kinds")["kinds"]
    shown = walk.browser.js("[...document.querySelectorAll('select[name=kind] option')].map((one) => one.value)")
    assert len(kinds) > 66 and shown == ["", *kinds], set(kinds) ^ set(shown)
    groups = walk.browser.js(f"import('/console/kinds.js').then(({{group}}) => {json.dumps(kinds)}.filter((kind) => group(kind) === 'other'))")
    assert not groups, f"kinds of no group: {groups}"
    written = walk.sql("SELECT DISTINCT kind FROM audit_entry").split()
    assert set(written) <= set(kinds), set(written) - set(kinds)


@step
def filters(walk):
    b = walk.browser
    b.key("/")
    b.wait("document.activeElement.id === 'q'")
    b.type("excuse")
    b.key("Enter")
    b.wait("[...document.querySelectorAll('.kind')].length > 3 && [...document.querySelectorAll('.kind')].every((kind) => kind.textContent.includes('excuse'))")
    walk.audit_log()
    b.js("document.querySelector('select[name=kind]').focus()")
    b.js("(() => { const kind = document.querySelector('select[name=kind]'); kind.value = 'consent.granted'; kind.dispatchEvent(new Event('change')) })()")
    b.wait("location.hash.includes('kind=consent.granted')")
    b.wait("document.querySelectorAll('tr[data-n]').length > 0 && [...document.querySelectorAll('.kind')].every((kind) => kind.textContent === 'consent.granted')")
    assert b.js("document.activeElement.name") == "kind", "a filter keeps the focus"


@step
def moments_of_the_zone(walk):
    """From and To mean days and times of the zone that is shown."""
    b = walk.browser
    walk.audit_log()
    b.js("performance.clearResourceTimings()")
    set_field = "(name, value) => { const field = document.querySelector(`input[name=${name}]`); field.focus(); field.value = value; field.dispatchEvent(new Event('change')) }"

    def asked(name):
        return f"new URL(performance.getEntriesByType('resource').findLast((one) => one.name.includes('/audit/events?')).name).searchParams.get('{name}')"

    b.js(f"({set_field})('from', '2026-07-01')")
    b.wait(f"{asked('from')} === '2026-07-01T04:00:00.000Z'", "midnight in New York")
    assert b.js("document.activeElement.name") == "from", "a filter keeps the focus"
    b.js(f"({set_field})('to', '2030-07-01')")
    b.wait(f"{asked('to')} === '2030-07-02T04:00:00.000Z'", "the end of the last day")
    b.click(".zone")
    b.wait(f"{asked('from')} === '2026-07-01T00:00:00.000Z' && {asked('to')} === '2030-07-02T00:00:00.000Z'", "the same days in UTC")
    b.js(f"({set_field})('from_time', '06:30')")
    b.wait(f"{asked('from')} === '2026-07-01T06:30:00.000Z'", "half past six, UTC")
    b.click(".zone")
    b.wait("document.querySelector('input[name=from_time]').value === '02:30'", "the same moment in New York")
    walk.audit_log("?kind=nag.created")
    today = b.js("new Date().toLocaleDateString('sv')")
    for name in ("Today", "7 days", "30 days"):
        b.js(f"[...document.querySelectorAll('.filters .segments button')].find((one) => one.textContent === '{name}').click()")
        b.wait(f"document.querySelector('.filters .segments [aria-pressed=true]')?.textContent === '{name}'")
        days = {"Today": 0, "7 days": 6, "30 days": 29}[name]
        assert b.js(f"(new Date('{today}') - new Date(document.querySelector('input[name=from]').value)) / 86400000") == days


@step
def one_decision(walk):
    """An AI decision is found, verified, and followed by its trace."""
    b = walk.browser
    walk.view("decisions", "document.querySelectorAll('.decision').length > 10")
    walk.shot("decisions")
    b.click(".decision .button.small")
    b.wait("document.querySelector('#verdict.good')", "a verified decision")
    assert b.js("document.querySelectorAll('.steps .good').length") >= 5
    walk.shot("decision")
    b.click(".drawer .actions a")
    b.wait("location.hash.includes('trace_id=') && !document.querySelector('.drawer').open")
    b.wait("document.querySelectorAll('tr[data-n]').length >= 1", "the trace's entries")
    walk.shot("trace")


@step
def families_without_end(walk):
    """Sixty families more than a page of them holds: each is found by its name, and all by going on."""
    b, tag = walk.browser, secrets.token_hex(3)
    for number in range(60):
        signed = walk.call("POST", "/auth/signup", {
            "email": f"crowd{number}-{tag}@example.org", "password": f"a long word {number} of many", "display_name": "Crowd"})
        walk.call("POST", "/families", {"name": f"Crowd {tag} {number:02}"}, signed["access_token"])
    # Names that no server takes may have been stored by another.
    for number, name in enumerate(HOSTILE):
        walk.sql("UPDATE families SET name = '%s' WHERE name = 'Crowd %s %02d'" % (name.replace("'", "''"), tag, number))
    walk.audit_log()
    b.js("document.querySelector('input[name=family_id]').focus()")
    b.click("input[name=family_id]")
    b.wait("document.querySelectorAll('.options:not([hidden]) [role=option]').length > 50", "a page of families")
    count = b.js("document.querySelectorAll('.options:not([hidden]) [role=option]').length")
    b.js("[...document.querySelectorAll('.options:not([hidden]) [role=option]')].at(-1).click()")
    b.wait(f"document.querySelectorAll('.options:not([hidden]) [role=option]').length > {count}", "the rest of them")
    walk.shot("families")
    b.key("Escape")
    b.wait("!document.querySelector('.options:not([hidden])')")
    b.click("input[name=family_id]")
    b.js("document.querySelector('input[name=family_id]').select()")
    b.type(f"crowd {tag} 59")
    b.wait("[...document.querySelectorAll('.options:not([hidden]) [role=option]')].every((one) => one.textContent.includes(' 59')) && document.querySelector('[role=option].active')", "one family")
    b.key("Enter")
    b.wait("document.querySelectorAll('tr[data-n]').length > 0 && [...document.querySelectorAll('td.where')].every((cell) => cell.textContent.endsWith(' 59'))")
    assert b.js("document.activeElement.name") == "family_id", "a filter keeps the focus"
    family = b.js("document.querySelector('tr[data-n]').dataset.family")
    # The end of its id, which is what the page shows of a family without a name, finds it too.
    walk.audit_log(f"?q=Family+{family[-8:]}")
    found = b.js("[...document.querySelectorAll('tr[data-n]')].map((row) => [row.dataset.family, row.querySelector('.kind').textContent])")
    assert any(one[0] == family for one in found) and all(one[0] == family or one[1] == "admin.read" for one in found), found


HOSTILE = [
    "<img src=x onerror=alert(1)>", "=HYPERLINK(\"http://x\",\"y\")", "\u202etxet desrever", "W" * 255, "Outside families",
    "\"><script>alert(1)</script>", "{{7*7}}", "javascript:alert(1)"]


@step
def guardian(walk):
    """A guardian sees names, their own family and no other."""
    b = walk.browser
    walk.sign_out()
    walk.sign_in(*walk.options.guardian)
    b.wait("document.querySelector('.healthtext')", "the overview")
    walk.audit_log(least=50)
    assert not b.js("document.querySelector('[name=family_id]')")
    assert b.js("[...document.querySelectorAll('.person')].some((person) => !person.textContent.includes('Person'))"), "names"
    walk.shot("guardian")


@step
def names_and_short_ids(walk):
    """What the page shows of people and things finds them."""
    b = walk.browser
    walk.audit_log("?q=maya")
    assert b.js("[...document.querySelectorAll('tr[data-n]')].every((row) => row.textContent.includes('Maya'))"), "a name"
    walk.audit_log("?kind=nag.created")
    end = b.js("document.querySelector('td.where code').textContent")
    walk.audit_log(f"?q={end}")
    assert b.js(f"[...document.querySelectorAll('td.where code')].some((one) => one.textContent === '{end}')"), "a short id"
    # By the field for people, with the keyboard alone.
    walk.audit_log()
    b.js("document.querySelector('input[name=person_id]').focus()")
    b.type("leo")
    b.wait("document.querySelector('.options:not([hidden]) [role=option].active')?.textContent.includes('Leo')")
    walk.shot("person-filter")
    b.key("Enter")
    b.wait("location.hash.includes('person_id=')")
    b.wait("document.querySelectorAll('tr[data-n]').length > 3 && [...document.querySelectorAll('tr[data-n]')].every((row) => row.textContent.includes('Leo'))")
    assert b.js("document.querySelector('input[name=person_id]').value") == "Leo"


@step
def new_entries_wait(walk):
    """New entries are announced, and shown when the reader asks for them."""
    b = walk.browser
    walk.audit_log(least=50)
    first = b.js("document.querySelector('tr[data-n]').dataset.n")
    b.js("scrollTo(0, 700)")
    walk.token(walk.options.guardian)
    walk.token(walk.options.guardian)
    b.wait(walk.AT_ONCE + "!document.querySelector('.fresh').hidden", "the button", 30)
    b.wait(walk.AT_ONCE + "document.querySelector('.fresh').textContent === '2 new'")
    assert b.js("document.querySelector('tr[data-n]').dataset.n") == first and b.js("scrollY") == 700, "nothing jumps"
    walk.shot("two-new")
    b.click(".fresh")
    b.wait(f"document.querySelector('tr[data-n]')?.dataset.n === '{int(first) + 2}' && scrollY === 0 && document.querySelector('.fresh').hidden")


@step
def consents_per_person(walk):
    """What is in force is the rule's answer, not the newest entry: one of two givers takes it back, and it stays."""
    b = walk.browser
    first, second = walk.token(walk.options.guardian), walk.token(walk.options.second)
    family = first["family_id"]
    wanted = {"family_id": family, "consent_type": "gamification_participation"}
    own = walk.call("POST", "/consents", wanted, first["access_token"])
    walk.call("POST", "/consents", wanted, second["access_token"])
    walk.call("PATCH", f"/consents/{own['id']}", {"revoked": True}, first["access_token"])
    walk.view("consents", "document.querySelectorAll('.consent').length >= 4 && document.querySelectorAll('.history li').length > 2")
    assert b.js("document.querySelector('.history li').className") == "revoked", "the newest entry"
    lines = b.js("[...document.querySelectorAll('.consent li')].filter((one) => one.textContent.includes('Points')).map((one) => one.textContent)")
    assert len(lines) >= 4 and all("Points and badges in force" in line and "Daniel" in line for line in lines), lines
    walk.shot("consents")
    # A person's own consent is theirs alone.
    texts = b.js("[...document.querySelectorAll('.consent li')].filter((one) => one.textContent.includes('Text messages')).map((one) => one.className)")
    assert texts.count("given") == 1, texts


@step
def export(walk):
    b = walk.browser
    walk.audit_log("?kind=nag.created", 5)
    wanted = walk.sql("SELECT count(*) FROM audit_entry e JOIN families f ON f.id = e.family_id WHERE kind = 'nag.created' AND f.name LIKE 'The Marl%'")
    for name, least in (("exportcsv", "nagz-entries.csv"), ("exportndjson", "nagz-entries.ndjson"), ("export", "nagz-audit-log-*.ndjson")):
        b.js("for (const toast of document.querySelectorAll('.toast')) toast.remove()")
        b.click("#exports")
        b.wait("document.querySelector('.menu').open")
        if name == "export":
            walk.shot("export")
        b.click(f"#{name}")
        b.wait("document.querySelector('.toast.good')", "the end of the export", 60)
        text = walk.downloaded(least)
        if name == "exportcsv":
            assert text.startswith('"at",') and text.count("\r\n") == int(wanted) + 1, text[:200]
        elif name == "exportndjson":
            entries = [json.loads(line) for line in text.splitlines()]
            assert len(entries) == int(wanted) and all(entry["kind"] == "nag.created" for entry in entries)
        else:
            lines = text.splitlines()
            assert "header" in json.loads(lines[0]) and "end" in json.loads(lines[-1])
            if walk.options.nagz:
                file = next(walk.options.artefacts.glob(least))
                subprocess.run([walk.options.nagz, "audit", "verify", file, "--key", walk.options.key], check=True)
