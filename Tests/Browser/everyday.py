"""What readers meet every day: several tabs, networks that come and go, names of all scripts, long words, small screens."""
import json

from constraints import AT
from drafts import draft, family_of
from measures import CUT_OFF, check_look
from walk import step

READS = "SELECT count(*) FROM audit_entry WHERE kind = 'admin.read'"
ROWS = "[...document.querySelectorAll('tr[data-n]')]"
TOKENS = "JSON.parse(sessionStorage['nagz.session'] ?? 'null')"


@step
def second_tab(walk):
    """Another tab needs no sign-in; tabs share new tokens; a page of another address gets nothing; one sign-out is for all tabs."""
    b = walk.browser
    walk.view("consents", "document.querySelectorAll('.consent').length > 3")
    with b.another_tab(walk.base + "/console#/policies") as tab:
        tab.wait("document.querySelector('.policy')", "the view, without a sign-in")
        assert tab.js(TOKENS) == b.js(TOKENS) and not tab.js("document.querySelector('.signin')")
        for one in (b, tab):
            assert not one.js("document.cookie") and "access" not in one.js("JSON.stringify(localStorage)"), "tokens outlive the tab"
        # A token that has run out is renewed in one tab, for both.
        before = b.js(TOKENS)["refresh"]
        b.tolerated = ["status of 401"]
        b.hold("*/api/v1/policies?*")
        b.js("location.hash = '#/policies'")
        b.answer(b.held(1)[0], 401, '{"error":{"code":"authentication_failed","message":"The access token has expired."}}')
        b.let_all_go()
        b.wait("document.querySelector('.policy')", "the view after the renewal")
        b.tolerated = []
        tab.wait(f"{TOKENS}.refresh !== {json.dumps(before)}", "the new tokens in the other tab")
        assert tab.js(TOKENS) == b.js(TOKENS)
        address = walk.base.replace("127.0.0.1", "console.test") + "/console"
        with b.another_tab(address, ["Cross-Origin-Opener-Policy header has been ignored"]) as stranger:
            stranger.wait("document.getElementById('email')", "the sign-in form")
            stranger.settle()
            assert stranger.js(TOKENS) is None and stranger.js("document.querySelector('.signin')"), "another address was handed the session"
        tab.click(".who")
        tab.wait("document.getElementById('email')")
        b.wait(f"document.getElementById('email') && {TOKENS} === null", "the first tab is signed out too")
    b.wait("document.querySelector('.signin .problem')?.textContent.startsWith('Your session has ended')")
    walk.sign_in(*walk.options.guardian)


@step
def network_returns(walk):
    """What could not be loaded without the server is loaded when it answers again, without a click."""
    b = walk.browser
    b.tolerated = ["net::ERR_"]
    walk.view("overview", "document.querySelector('.health')")
    for view, ready in (("policies", "document.querySelector('.policy')"), ("trail", f"{ROWS}.length > 20"), ("drafts", "document.querySelector('.draft')")):
        b.offline(True)
        walk.view(view, "document.querySelector('#main .empty[role=alert]')?.textContent.includes('It is loaded as soon as the server answers.')")
        b.offline(False)
        b.wait(ready, f"{view} by itself")
    # The page itself, whose first request fails.
    b.open("about:blank")
    b.hold("*/api/v1/audit/status")
    b.open(walk.base + "/console#/trail")
    b.fail(b.held(1)[0])
    b.wait("document.querySelector('.waiting .problem')?.textContent === 'The server cannot be reached.'")
    b.let_all_go()
    b.wait(f"{ROWS}.length > 20", "the page by itself")
    b.tolerated = []


@step
def search_while_typing(walk):
    """The list follows what is typed, and Back does not go through every letter."""
    b = walk.browser
    walk.audit_log(least=20)
    steps = b.js("history.length")
    b.key("/")
    b.wait("document.activeElement.id === 'q'")
    for letter in "excuse":
        b.type(letter)
    b.wait(f"{ROWS}.length > 3 && {ROWS}.every((row) => row.textContent.includes('excuse')) && location.hash.includes('q=excuse')", "entries without Enter")
    assert b.js("document.activeElement.id === 'q' && history.length") == steps
    b.js("document.activeElement.select()")
    b.key("Backspace")
    b.wait(f"!location.hash.includes('q=') && {ROWS}.length > 20", "all entries again")


@step
def audit_log_on_a_phone(walk):
    """Filters are behind a button that says how many are set; the export menu fits."""
    b = walk.browser
    b.look(390, 844, mobile=True)
    walk.audit_log("?kind=nag.created", 5)
    shown = "document.querySelector('select[name=kind]').checkVisibility()"
    assert b.js("document.querySelector('.fold').textContent") == "Filters (1 set)" and not b.js(shown)
    check_look(b)
    b.click(".fold")
    b.wait(f"{shown} && document.querySelector('.fold').getAttribute('aria-expanded') === 'true'")
    check_look(b)
    walk.shot("phone-filters")
    b.click("#exports")
    b.wait("document.querySelector('.menu').open")
    check_look(b)
    walk.shot("phone-export")
    b.key("Escape")
    b.look()


NAMES = ["مريم بنت عبد الرحمن الأندلسي القرطبي المقيمة في حي الياسمين قرب السوق الكبير", "W" * 60]
# How far the first letter of each name is from its avatar, sideways.
DISTANCES = """[...document.querySelectorAll('#main .person')].filter((one) => one.checkVisibility({contentVisibilityAuto: true})).map((one) => { const range = document.createRange(); range.selectNodeContents(one.querySelector('.name'));
    return Math.min(...[...range.getClientRects()].map((box) => box.left)) - one.querySelector('.avatar').getBoundingClientRect().right })"""
COLOURS = "Object.fromEntries([...document.querySelectorAll('#main .person')].map((one) => [one.querySelector('.name').textContent, one.querySelector('.avatar').className]))"


@step
def names_of_all_scripts(walk):
    """A name begins beside its avatar, whatever its script, and a person has one colour in all views."""
    b = walk.browser
    member, name = walk.sql("SELECT u.id || ' ' || u.display_name FROM users u WHERE email = 'daniel@example.com'").split(" ", 1)
    views = {"trail?person_id=" + member: f"{ROWS}.length > 3", "consents": "document.querySelectorAll('.consent').length > 3", "policies": "document.querySelector('.policy')"}
    try:
        for one in NAMES:
            walk.sql(f"UPDATE users SET display_name = '{one}' WHERE id = '{member}'")
            b.open("about:blank")
            colours = set()
            for view, ready in views.items():
                walk.view(view, ready)
                for width in (1320, 390):
                    b.look(width, 900, mobile=width == 390)
                    assert all(0 <= distance < 14 for distance in b.js(DISTANCES)), (view, width, b.js(DISTANCES))
                    assert b.js("document.documentElement.scrollWidth <= innerWidth") and not b.js(CUT_OFF), f"{view}, {width}: {b.js(CUT_OFF)}"
                colours.add(b.js(COLOURS)[one])
                walk.shot(f"name-{view.split('?')[0]}")
            assert len(colours) == 1, colours
    finally:
        walk.sql(f"UPDATE users SET display_name = '{name}' WHERE id = '{member}'")
        b.look()


@step
def long_drafts(walk):
    """All words that one approves can be read, on a phone too; the end of a draft has its date."""
    b = walk.browser
    wanted = draft(walk, "Read the very long story. " * 70 + "W" * 150)
    for width in (1320, 390):
        b.look(width, 700, mobile=width == 390)
        walk.view("drafts?state=draft", f"document.querySelector('[data-id=\"{wanted}\"]')")
        ends = b.js(f"[...document.querySelectorAll('[data-id=\"{wanted}\"] .fact')].find((one) => one.textContent.startsWith('ends')).textContent")
        assert any(month in ends for month in "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()), ends
        b.click(f"[data-id='{wanted}'] [data-part=approve]")
        b.wait(f"document.querySelector('dialog.help[open]') && {AT}.textContent === 'Approve'", "the question")
        text = "document.querySelector('.questiontext')"
        assert b.js(f"{text}.scrollHeight > {text}.clientHeight && {text}.tabIndex === 0 && {text}.scrollWidth <= {text}.clientWidth + 1"), "it does not scroll, or not only down"
        check_look(b)
        b.js(f"{text}.scrollTop = 1e6")
        assert b.js(f"(() => {{ const last = {text}.querySelector('li:last-child').getBoundingClientRect(); const box = {text}.getBoundingClientRect(); return last.bottom <= box.bottom + 1 && box.bottom <= innerHeight }})()"), "the last words are not shown"
        assert b.js("[...document.querySelectorAll('dialog.help button')].every((one) => one.getBoundingClientRect().bottom <= innerHeight)")
        walk.shot(f"approve-{width}")
        b.key("Escape")
        b.wait("!document.querySelector('dialog.help')")
    b.look()


@step
def figures_of_the_family(walk):
    """A guardian's overview has the family's figures and none of the server's, which nobody gets without being an administrator."""
    b = walk.browser
    walk.view("overview", "document.querySelectorAll('.tile').length === 4")
    tiles = dict(b.js("[...document.querySelectorAll('.tile')].map((one) => [one.querySelector('span').textContent, one.querySelector('strong').textContent])"))
    family = family_of(walk)
    assert tiles["Open now"] == walk.sql(f"SELECT count(*) FROM nags WHERE family_id = '{family}' AND status = 'open'"), tiles
    assert "Server" not in b.js("document.getElementById('main').innerText")
    for token, is_admin in ((None, False), (walk.token(walk.options.guardian)["access_token"], False), (walk.token(walk.options.admin)["access_token"], True)):
        keys = {one["key"] for one in walk.call("GET", "/metrics", token=token)["metrics"]}
        assert "requests_per_second" in keys and ({"users", "families", "nags_open", "nags_completed", "nags_missed"} <= keys) == is_admin, keys
        assert is_admin or not keys & {"users", "families", "nags_open"}


@step
def one_entry_a_page_view(walk):
    """What an administrator reads in one view is one entry, however long it is looked at; their own reads can be left out of the list."""
    b = walk.browser
    walk.become(walk.options.admin)
    walk.view("overview", "document.querySelectorAll('.tile').length > 8")
    for view, ready in {
            "trail": f"{ROWS}.length >= 100", "overview": "document.querySelectorAll('.tile').length > 8", "deliveries": "document.querySelector('.segments')",
            "decisions": "document.querySelectorAll('.decision').length > 10", "moderation": "document.querySelector('.segments')"}.items():
        b.settle()
        before = int(walk.sql(READS))
        walk.view(view, ready)
        b.js(walk.AT_ONCE + "0")
        b.settle()
        if view == "trail":
            b.js("scrollTo(0, document.body.scrollHeight)")
            b.wait(f"{ROWS}.length >= 200", "the next page")
            b.js("scrollTo(0, 0); document.querySelectorAll('tr[data-n]')[3].click()")
            b.wait("document.querySelector('#verdict.good')", "an entry")
            b.key("Escape")
            b.js(walk.AT_ONCE + "0")
            b.settle()
        assert int(walk.sql(READS)) == before + 1, (view, before, walk.sql(READS))
    walk.audit_log("?kind=admin.read")
    own = json.dumps(walk.options.admin[0])
    assert b.js(f"{ROWS}.some((row) => row.querySelector('.whofrom').textContent.includes({own}))")
    b.click("input[name=without_own_reads]")
    b.wait(f"location.hash.includes('without_own_reads=true') && document.querySelector('.more').textContent.includes('No entry matches')", "none of the own reads")
    walk.audit_log("?without_own_reads=true", 20)
    assert b.js("document.querySelector('input[name=without_own_reads]').checked") and not b.js(f"{ROWS}.some((row) => row.querySelector('.kind').textContent === 'admin.read')")
    walk.become(walk.options.guardian)


@step
def bounds_before_they_are_refused(walk):
    """The policy's form shows the bounds of the limits in words, and says while one types what the server would refuse."""
    b = walk.browser
    token = walk.token(walk.options.guardian)["access_token"]
    policy = walk.call("GET", f"/policies?family_id={family_of(walk)}", token=token)["items"][0]
    bounds = {"daily_nag_cap": (1, 8, 1), "max_snooze_minutes": (5, 120, 1), "points_multiplier": (0.1, 3, 0.1), "max_pushback": (0, 3, 1), "pushback_cooldown_minutes": (15, 240, 1)}
    walk.view("policies", "document.querySelector('.changeform')")
    for name, (least, most, more) in bounds.items():
        field = f"document.querySelector('input[name={name}]')"
        hint = b.js(f"document.getElementById({field}.getAttribute('aria-describedby').split(' ')[0]).textContent")
        assert hint.startswith(f"From {least} to {most}. Left empty: "), hint
        problem = f"document.getElementById({field}.getAttribute('aria-describedby').split(' ')[1])"
        kept = b.js(f"{field}.value")
        for value, says in ((most + more, f"The most is {most}."), (round(least - more, 1), f"The least is {least}."), ("many", f"from {least} to {most}."), (most, ""), (least, "")):
            b.js(f"{field}.focus(); {field}.select()")
            b.type(str(value))
            assert b.js(f"{problem}.textContent").endswith(says) and b.js(f"{problem}.hidden") == (says == ""), (name, value, b.js(f"{problem}.textContent"))
            # The bounds are the server's.
            if says.startswith("The"):
                try:
                    walk.call("PATCH", f"/policies/{policy['id']}", {"constraints": {name: value}}, token)
                except AssertionError as refusal:
                    assert " 422 " in str(refusal), refusal
                else:
                    raise AssertionError(f"the server takes {name} {value}")
        b.js(f"{field}.select()")
        b.type(kept) if kept else b.key("Backspace")
    assert not b.js("[...document.querySelectorAll('.changeform [aria-invalid=true]')].length")
