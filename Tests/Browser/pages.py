"""The pages that change something: deliveries, moderation and policies."""
import json

from measures import CONTRAST, CUT_OFF, unnamed
from walk import step

HOSTILE = "\"><img src=x onerror=alert(1)> \u202e=HYPERLINK(\"x\") {{7*7}}"


def only_text(walk):
    """Nothing that was stored has become an element, and the page is no wider for it."""
    b = walk.browser
    assert b.js("[...document.images].every((image) => image.src.endsWith('/console/icon.svg')) && document.scripts.length === 1")
    assert b.js("document.documentElement.scrollWidth <= innerWidth"), "wider than the page"


def quoted(text):
    return "'%s'" % text.replace("'", "''")


def cards(condition="true"):
    return f"[...document.querySelectorAll('.cards article')].filter((one) => {condition})"


def states(walk, path, view, ready):
    """A list that is loading, one that the server refuses, and one without a network; then the list."""
    b = walk.browser
    b.tolerated = ["status of 503", "net::ERR_"]
    walk.view("overview", "document.querySelector('.health')")
    b.hold(path)
    walk.view(view, "document.querySelector('#main .skeleton')")
    b.answer(b.held(1)[0], 503, '{"error":{"code":"unavailable","message":"The server is busy."}}')
    b.wait("document.querySelector('#main .empty[role=alert]')?.textContent.includes('The server is busy.')", "a refusal")
    b.let_all_go()
    b.offline(True)
    b.click("#main .empty button")
    b.wait("document.querySelector('#main .empty[role=alert]')?.textContent.includes('The server cannot be reached.')", "no network")
    b.offline(False)
    b.wait(ready, "the list by itself")
    b.tolerated = []


@step
def deliveries(walk):
    """An administrator finds the dead letters first, and sends one again after a question; the server decides."""
    b = walk.browser
    walk.become(walk.options.admin)
    family = walk.sql("SELECT id FROM families WHERE name LIKE 'The Marl%'")
    dead = walk.sql(
        f"UPDATE deliveries SET status = 'failed', dropped = false, attempts = 7, failure = {quoted(HOSTILE)}, next_attempt = NULL WHERE id IN "
        f"(SELECT id FROM deliveries WHERE family_id = '{family}' ORDER BY created_at DESC, id DESC LIMIT 3) RETURNING id").split()
    dropped = walk.sql(
        f"UPDATE deliveries SET status = 'failed', dropped = true, failure = 'superseded', next_attempt = NULL WHERE id IN "
        f"(SELECT id FROM deliveries WHERE family_id = '{family}' AND status <> 'failed' ORDER BY created_at DESC, id DESC LIMIT 1) RETURNING id")
    failed = int(walk.sql("SELECT count(*) FROM deliveries WHERE status = 'failed' AND NOT dropped"))
    b.key("g")
    b.key("d")
    b.wait(f"location.hash === '#/deliveries' && {cards()}.length === {failed}", "dead letters")
    shown = b.js(f"{cards()}.slice(0, 4).map((one) => [one.dataset.id, one.querySelector('.badge.bad')?.textContent, one.textContent])")
    assert {one[0] for one in shown[:3]} == set(dead) and all(one[1] == "dead letter" and HOSTILE in one[2] and "attempts7" in one[2] for one in shown[:3]), shown
    assert len(shown) == 3, "the list opens on dead letters alone"
    assert b.js(f"document.querySelector('article .factrow a').hash === '#/trail?family_id={family}'")
    only_text(walk)
    walk.shot("deliveries")
    # By keyboard: no is no, yes is sent.
    b.key("j")
    first = b.js("document.activeElement.closest('article').dataset.id")
    assert b.js("document.activeElement.textContent") == "Resend" and first == shown[0][0]
    b.key("Enter")
    b.wait("document.querySelector('dialog.help[open]')", "the question")
    b.key("Escape")
    b.wait("!document.querySelector('dialog.help') && document.activeElement.textContent === 'Resend'", "focus is back")
    assert walk.sql(f"SELECT status FROM deliveries WHERE id = '{first}'") == "failed"
    b.key("Enter")
    b.wait("document.querySelector('dialog.help[open]')?.contains(document.activeElement)")
    b.key("Enter")
    b.wait(f"document.activeElement.dataset.id === '{first}' && document.activeElement.querySelector('.badge').textContent === 'pending'", "the answer")
    assert not b.js("document.activeElement.querySelector('footer button')"), "what is pending can be sent again"
    assert walk.sql(f"SELECT count(*) FROM audit_entry WHERE kind = 'delivery.resent' AND resource = '{first}'") != "0"
    # Somebody else was faster.
    second = shown[1][0]
    walk.sql(f"UPDATE deliveries SET status = 'sent' WHERE id = '{second}'")
    b.tolerated = ["status of 409"]
    b.click(f"[data-id='{second}'] footer button")
    b.click("dialog.help .primary")
    b.wait(f"document.querySelector('[data-id=\"{second}\"] .problem').textContent === 'Only a failed delivery can be sent again.'")
    b.tolerated = []
    walk.view("deliveries?status=dropped", f"document.querySelector('[data-id=\"{dropped}\"]')")
    assert "dropped: not needed any more" in b.js(f"document.querySelector('[data-id=\"{dropped}\"]').textContent")
    assert walk.sql("SELECT count(*) FROM deliveries WHERE status = 'delivered'") == "0"
    walk.view("deliveries?status=delivered", "document.querySelector('#main .empty')?.textContent === 'No delivery has this status.'")
    assert b.js("document.querySelector('.segments [aria-current]').textContent") == "Delivered"
    # One about a connection has no nag.
    third = shown[2][0]
    walk.sql(f"UPDATE deliveries SET nag_id = NULL, nag_event_id = NULL, connection_event = 'connection_invited' WHERE id = '{third}'")
    walk.view("deliveries", f"document.querySelector('[data-id=\"{third}\"]')")
    text = b.js(f"document.querySelector('[data-id=\"{third}\"]').textContent")
    assert "connection_invited" in text and "null" not in text, text
    states(walk, "*/api/v1/admin/deliveries?*", "deliveries?status=sent", f"{cards()}.length > 0")
    walk.view("deliveries?status=%22%3E", f"{cards()}.length === 1")


@step
def moderation(walk):
    """Abuse reports, with what is left of their review targets; nothing typed is lost."""
    b = walk.browser
    reporter = walk.token(walk.options.guardian)["access_token"]
    target = walk.sql(f"SELECT id FROM users WHERE email = {quoted(walk.options.second[0])}")
    late, stale, last = [
        walk.call("POST", "/abuse-reports", {"target_id": target, "reason": reason}, reporter)["id"] for reason in (HOSTILE, "Words " * 300, "Later words")]
    walk.sql(f"UPDATE abuse_reports SET created_at = created_at - interval '30 hours' WHERE id = '{late}'")
    b.key("g")
    b.key("m")
    b.wait(f"location.hash === '#/moderation' && {cards()}.length === 3", "three reports")
    texts = b.js(f"{cards()}.map((one) => one.textContent)")
    assert "overdue by 6 hours" in texts[0] and HOSTILE in texts[0] and "24 hours" in texts[1] and " left" in texts[1], texts
    assert len(texts[1]) < 400, "all of a long reason is in the list"
    only_text(walk)
    # By keyboard: the oldest one, its note, and what the server refuses of it.
    b.key("j")
    b.key("Enter")
    b.wait(f"document.querySelector('.drawer[open] textarea') && location.hash === '#/moderation?report={late}'", "the report")
    closed = "!document.querySelector('.drawer[open]') && location.hash === '#/moderation'"
    b.key("Escape")
    b.wait(f"{closed} && document.activeElement.textContent === 'Open'", "focus is back")
    b.key("Enter")
    b.wait("document.querySelector('.drawer[open] textarea')")
    for shift in (False, True):
        for _ in range(25):
            b.key("Tab", shift=shift)
            assert b.js("document.querySelector('.drawer[open]').contains(document.activeElement)"), "focus has left the drawer"
    b.js("document.querySelector('textarea').focus()")
    b.type("x" * 2001)
    b.tolerated = ["status of 4"]
    b.click(".changeform .primary")
    b.wait("document.activeElement.name === 'note' && document.activeElement.getAttribute('aria-invalid') === 'true'", "a refusal at its field")
    assert "The note must have at most" in b.js("document.getElementById(document.activeElement.getAttribute('aria-describedby').split(' ').at(-1)).textContent")
    b.key("Escape")
    b.wait(closed)
    b.key("Enter")
    b.wait("document.querySelector('.drawer[open] textarea')?.value.length === 2001", "what was typed")
    b.js("document.querySelector('textarea').focus(); document.querySelector('textarea').select()")
    b.type(f"seen {HOSTILE}")
    b.js("(() => { const field = document.querySelector('select[name=severity]'); field.value = 'critical'; field.dispatchEvent(new Event('input', {bubbles: true})) })()")
    b.click(".changeform .primary")
    b.wait(f"document.querySelector('.drawer[open] .history .reason')?.textContent === {json.dumps('seen ' + HOSTILE)}", "the note, from the audit log")
    assert b.js("document.querySelector('.drawer[open] textarea').value") == "" and "4 hours" in b.js("document.querySelector('.drawer[open] .fields').textContent")
    assert walk.sql(f"SELECT severity || ' ' || status FROM abuse_reports WHERE id = '{late}'") == "critical open"
    only_text(walk)
    walk.shot("report")
    b.js("history.back()")
    b.wait(closed, "Back closes it")
    # Another administrator has ended a review meanwhile: the server's words, and the note is still there.
    admin = walk.token(walk.options.admin)["access_token"]
    b.click(f"[data-id='{stale}'] footer button")
    b.wait("document.querySelector('.drawer[open] textarea')")
    for status in ("investigating", "resolved"):
        walk.call("PATCH", f"/admin/abuse-reports/{stale}", {"status": status}, admin)
    b.js("(() => { const field = document.querySelector('select[name=status]'); field.value = 'investigating'; field.dispatchEvent(new Event('input', {bubbles: true})); document.querySelector('textarea').focus() })()")
    b.type("my long note")
    b.click(".changeform .primary")
    b.wait("[...document.querySelectorAll('.drawer[open] .problemtext')].some((one) => !one.hidden && one.textContent.startsWith('A report goes from open to investigating'))", "the server's words")
    assert b.js("document.querySelector('textarea').value") == "my long note"
    b.click(".changeform .problem button")
    b.wait("document.querySelector('.drawer[open]')?.textContent.includes('The review has ended.') && document.querySelector('.drawer[open]').textContent.includes('my long note')", "the note that was not saved")
    assert b.js("location.hash") == f"#/moderation?status=all&report={stale}" and not b.js("document.querySelector('.drawer[open] form')")
    b.tolerated = []
    b.key("Escape")
    b.wait(f"!document.querySelector('.drawer[open]') && location.hash === '#/moderation?status=all' && {cards()}.length === 3")
    # A report of another status is not in the list.
    walk.view(f"moderation?report={stale}", "document.querySelector('.drawer[open]')?.textContent.includes('The review has ended.')")
    b.key("Escape")
    b.wait("!document.querySelector('.drawer[open]') && location.hash === '#/moderation'")
    b.tolerated = ["status of 422"]
    walk.view("moderation?status=__proto__&report=%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E", "document.querySelector('.drawer[open] [role=alert]')")
    only_text(walk)
    b.key("Escape")
    b.wait("!document.querySelector('.drawer[open]')")
    b.tolerated = []
    walk.view("moderation?status=dismissed", "document.querySelector('#main .empty')?.textContent === 'No abuse report has this status.'")
    states(walk, "*/api/v1/admin/abuse-reports?*", "moderation", f"{cards()}.length === 2")
    walk.view("policies", "document.querySelector('.health')")
    walk.view("constraints", "document.querySelector('.health')")
    walk.view("executions", "document.querySelector('.health')")
    assert not b.js("document.querySelector('nav :is([data-view=policies], [data-view=constraints], [data-view=executions], [data-view=drafts])')"), "these are for guardians"
    # For the looks: one is being investigated.
    walk.call("PATCH", f"/admin/abuse-reports/{last}", {"status": "investigating", "note": "W" * 300}, admin)


# For administrators; the last one opens a drawer.
ADMIN_VIEWS = {
    "deliveries": "document.querySelectorAll('.decision .badge.bad').length > 0",
    "moderation": "document.querySelectorAll('.decision [data-due]').length > 0",
    "moderation?status=investigating&report={report}": "document.querySelectorAll('.drawer[open] .history button').length > 1 && !document.querySelector('.drawer[open]').getAnimations().length",
}


def admin_views(walk):
    report = walk.sql("SELECT id FROM abuse_reports WHERE status = 'investigating' LIMIT 1")
    return {view.format(report=report): ready for view, ready in ADMIN_VIEWS.items()}


@step
def looks_for_administrators(walk):
    """The pages of administrators: contrast, names of controls, a phone, and text twice as large by zoom."""
    b = walk.browser
    b.tolerated = ["status of 4"]
    for dark in (False, True):
        for view, ready in admin_views(walk).items():
            b.look(dark=dark)
            walk.view(view, ready)
            # A hundred cards take as many times as long to measure.
            b.js(f"{cards()}.slice(9).forEach((one) => one.remove())")
            if not dark:
                # A refusal, where there is a form.
                b.js("(() => { const form = document.querySelector('.changeform'); if (form) { form.querySelector('textarea').value = 'x'.repeat(2001); form.requestSubmit() } })()")
                b.wait("!document.querySelector('.changeform') || ![...document.querySelectorAll('.changeform .problemtext')].at(-1).hidden")
            b.settle()
            faults = b.js(CONTRAST)
            assert not faults, f"{view}, {'dark' if dark else 'light'}: {faults}"
            assert not unnamed(b), f"{view}: {unnamed(b)}"
            assert not b.js("/undefined|NaN|\\[object|Invalid Date/.test(document.body.innerText)"), f"{view} shows what is no value"
            for width, mobile in ((390, True), (660, False)):
                b.look(width, 844, dark=dark, mobile=mobile)
                assert b.js("document.documentElement.scrollWidth <= innerWidth") and not b.js(CUT_OFF), f"{view}, {width}: {b.js(CUT_OFF)}"
                if dark and mobile:
                    walk.shot(f"phone-{view.split('?')[0]}")
            b.key("Escape")
    b.look()
    b.tolerated = []


def fill(walk, name, text):
    walk.browser.js(f"document.querySelector('input[name={name}]').focus(); document.querySelector('input[name={name}]').select()")
    walk.browser.type(text)


@step
def policies(walk):
    """Guardians read the limits in words; an owner proposes others, and approves what the other one proposes now."""
    b = walk.browser
    walk.become(walk.options.second)
    b.key("g")
    b.key("p")
    b.wait("document.querySelector('.policy')?.textContent.includes('Only an owner of the policy can propose a change.')", "a guardian who is no owner")
    assert not b.js("document.querySelector('form, .policy button')")
    assert b.js("[...document.querySelectorAll('[data-part=members] .badge')].map((one) => one.closest('li').querySelector('.name').textContent)") == ["Nora"]
    walk.view("deliveries", "document.querySelector('.health')")
    assert not b.js("document.querySelector('nav [data-view=deliveries], nav [data-view=moderation]')"), "they are for administrators"
    other, own = walk.token(walk.options.guardian), walk.token(walk.options.second)
    policy = walk.call("GET", f"/policies?family_id={other['family_id']}", token=other["access_token"])["items"][0]["id"]

    def propose(**change):
        return walk.call("PATCH", f"/policies/{policy}", change, other["access_token"])

    # An only owner decides at once.
    propose(constraints={HOSTILE: HOSTILE, "W" * 64: "W" * 200}, owners=[other["user"]["id"], own["user"]["id"]])
    walk.view("policies", "document.querySelector('.changeform')")
    text = b.js("document.querySelector('[data-part=force]').textContent")
    assert "A member sends at most 8 nags on one day." in text and f"{HOSTILE}: {HOSTILE}" in text, text
    assert "Nothing is proposed." in b.js("document.querySelector('[data-part=proposal]').textContent")
    only_text(walk)
    # The bounds are told at the field; the other value stays, also when the reader looks elsewhere.
    b.tolerated = ["status of 4"]
    fill(walk, "max_snooze_minutes", "15")
    fill(walk, "daily_nag_cap", "9")
    b.key("Enter")
    b.wait("document.activeElement.name === 'daily_nag_cap' && document.activeElement.getAttribute('aria-invalid') === 'true'", "a refusal at its field")
    problem = "document.getElementById(document.activeElement.getAttribute('aria-describedby').split(' ').at(-1)).textContent"
    assert b.js(problem) == "The most is 8."
    fill(walk, "daily_nag_cap", "a few")
    b.key("Enter")
    b.wait(f"{problem} === 'Enter a whole number from 1 to 8.'")
    owners = "[...document.querySelectorAll('.changeform input[type=checkbox]')]"
    b.js(f"for (const one of {owners}) one.click()")
    fill(walk, "daily_nag_cap", "4")
    b.key("Enter")
    b.wait("document.activeElement.name === 'owners'", "a policy without owners")
    b.js(f"{owners}.forEach((one) => one.click())")
    walk.view("consents", "document.querySelector('.consent')")
    walk.view("policies", "document.querySelector('input[name=max_snooze_minutes]')?.value === '15' && document.querySelector('input[name=daily_nag_cap]').value === '4'")
    fill(walk, "daily_nag_cap", "4")
    b.key("Enter")
    b.wait("document.querySelector('[data-part=proposal] .changed')?.textContent === 'A member sends at most 4 nags on one day. now 8'", "a proposal")
    assert not b.js("document.querySelector('[data-part=proposal] .primary')"), "who proposes has approved"
    assert b.js("document.querySelector('input[name=daily_nag_cap]').value") == "8", "the form is what is in force"
    walk.shot("policies")
    # Nobody approves what they have not read.
    propose(constraints={"daily_nag_cap": 6})
    walk.view("consents", "document.querySelector('.consent')")
    walk.view("policies", "document.querySelector('[data-part=proposal] .primary')")
    propose(constraints={"daily_nag_cap": 5})
    b.js("document.querySelector('[data-part=proposal] .primary').focus()")
    b.key("Enter")
    b.wait("document.querySelector('dialog.help[open]')?.contains(document.activeElement)")
    b.key("Enter")
    b.wait("document.querySelector('[data-part=proposal] .problem').textContent.startsWith('This policy has changed in the meantime.')", "412")
    assert walk.sql(f"SELECT daily_cap FROM policies WHERE id = '{policy}'") == "8"
    b.js("[...document.querySelectorAll('[data-part=proposal] button')].at(-1).click()")
    b.wait("document.querySelector('[data-part=proposal] .changed')?.textContent.includes('at most 5 nags')")
    b.click("[data-part=proposal] .primary")
    b.click("dialog.help .primary")
    b.wait("document.querySelector('[data-part=force]')?.textContent.includes('at most 5 nags')", "in force")
    assert "Nothing is proposed." in b.js("document.querySelector('[data-part=proposal]').textContent")
    # A form that was filled in before somebody else's change.
    fill(walk, "daily_nag_cap", "3")
    propose(constraints={"max_pushback": 1})
    b.key("Enter")
    b.wait("document.querySelector('.changeform .problem button')", "412")
    b.click(".changeform .problem button")
    b.wait("document.querySelector('[data-part=proposal] .changed') && document.querySelector('input[name=daily_nag_cap]').value === '3'", "what was typed")
    b.tolerated = []
    states(walk, "*/api/v1/policies?*", "policies", "document.querySelector('[data-part=proposal] .changed')")
    walk.view("overview", "document.querySelector('.health')")
    b.hold("*/api/v1/policies?*")
    b.js("location.hash = '#/policies'")
    b.answer(b.held(1)[0], 200, '{"items":[],"total":0,"limit":200,"offset":0}')
    b.wait("document.querySelector('#main .empty')?.textContent === 'The family has no policy.'")
    b.let_all_go()
    walk.become(walk.options.guardian)
