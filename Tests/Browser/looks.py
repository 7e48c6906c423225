"""How it looks: contrast, names of controls, small screens, large text."""

from chromium import Browser
from measures import CONTRAST, CUT_OFF, TARGETS, unnamed
from pages import admin_views
from walk import Walk, step

VIEWS = {
    "overview": "document.querySelectorAll('.plot .bar').length > 3 && document.querySelectorAll('.tile').length === 4",
    "trail": "document.querySelectorAll('tr[data-n]').length > 20",
    "trail?kind=sign_in.failed&from=rubbish": "document.querySelector('[role=alert]')",
    "executions": "document.querySelectorAll('.execution').length > 0",
    "drafts": "document.querySelectorAll('.draft').length > 1",
    "decisions": "document.querySelectorAll('.decision').length > 3",
    "consents": "document.querySelectorAll('.consent').length > 3 && document.querySelectorAll('.history li').length > 2",
    "policies": "document.querySelector('[data-part=proposal] .changed') && document.querySelector('.changeform')",
    "constraints?edit=new": "document.querySelectorAll('.constraint').length > 1 && document.querySelector('[data-part=form]') && document.querySelector('.simulator')",
}


def open_first(walk):
    walk.audit_log("?kind=ai.select_tone")
    walk.browser.click("tr[data-n]")
    walk.browser.wait("document.querySelector('#verdict.good') && !document.querySelector('.drawer').getAnimations().length")


@step
def contrast_and_names(walk):
    """Text is 4.5 : 1 at least, large text and what is no text 3 : 1, in light and in dark; every control has a name."""
    b = walk.browser
    for dark in (False, True):
        b.look(dark=dark)
        for view, ready in VIEWS.items():
            walk.view(view, ready)
            b.settle()
            faults = b.js(CONTRAST)
            assert not faults, f"{view}, {'dark' if dark else 'light'}: {faults}"
            assert not unnamed(b), f"{view}: {unnamed(b)}"
            assert not b.js(TARGETS), f"{view}: {b.js(TARGETS)}"
            assert not b.js("/undefined|NaN|\\[object|Invalid Date/.test(document.body.innerText)"), f"{view} shows what is no value"
        open_first(walk)
        b.settle()
        faults = b.js(CONTRAST)
        assert not faults, f"drawer, {'dark' if dark else 'light'}: {faults}"
        assert not unnamed(b), unnamed(b)
        walk.shot(f"drawer-{'dark' if dark else 'light'}")
        b.key("Escape")
        walk.audit_log()
        walk.shot(f"audit-log-{'dark' if dark else 'light'}")
        # Open menus and lists, and every tone of the seal.
        b.js("document.getElementById('exports').click()")
        b.js("(() => { const input = document.querySelector('input[name=person_id]'); input.focus(); input.click() })()")
        b.wait("document.querySelectorAll('.options:not([hidden]) [role=option]').length > 3")
        assert not b.js(CONTRAST), b.js(CONTRAST)
        walk.view("overview", VIEWS["overview"])
        for tone in ("good", "bad", "open"):
            b.js(f"document.querySelector('.pill').dataset.tone = '{tone}'; document.querySelector('.seal').className = 'seal {tone}'; "
                 f"document.querySelector('.health .verdict').className = 'verdict {tone}'; document.querySelector('.health .verdict').textContent = 'Words'; "
                 "document.querySelector('.findings').textContent = 'Words'")
            assert not b.js(CONTRAST), f"{tone}: {b.js(CONTRAST)}"
        b.open("about:blank")
    b.look()


@step
def plot_by_the_calendar(walk):
    """Bars begin at midnight of the zone that is shown, the axes have names, and a narrow screen has letters of full size."""
    b = walk.browser
    walk.view("overview", VIEWS["overview"])
    starts = "JSON.parse(sessionStorage.starts)"
    for width, mobile in ((1320, False), (390, True)):
        b.look(width, 900, mobile=mobile)
        b.open("about:blank")
        walk.view("overview", VIEWS["overview"])
        texts = b.js("[...document.querySelectorAll('.plot text')].map((one) => { const {left, right, top, height} = one.getBoundingClientRect(); return [one.textContent, left, right, top, height] })")
        names = [text[0] for text in texts]
        assert "Entries per day" in names and any(name.startswith("Date, ") for name in names), names
        assert all(text[4] >= 12 and text[1] >= 0 and text[2] <= width for text in texts), texts
        dates = sorted(text for text in texts if text[0][:1].isdigit() and text[0][-1:].isalpha())
        lines = sorted(dates, key=lambda text: text[1])
        assert len(lines) >= 3 and all(one[2] < other[1] for one, other in zip(lines, lines[1:])), "labels lie over each other"
        walk.shot(f"plot-{width}")
    b.look()
    for zone in ("New York", "UTC"):
        answer = b.js("""(async () => {
            const {get} = await import('/console/api.js'); const {zoneName, startOfDay} = await import('/console/time.js');
            const {starts} = await get('/audit/activity', {from: startOfDay(-29).toISOString(), to: startOfDay(1).toISOString(), time_zone: zoneName()});
            return [starts.length, starts.every((start) => new Date(start).toLocaleTimeString('en-GB', {timeZone: zoneName()}) === '00:00:00')] })()""")
        assert answer == [30, True], (zone, answer)
        b.click(".zone")


@step
def narrow(walk):
    b = walk.browser
    for dark in (True, False):
        b.look(390, 844, dark=dark, mobile=True)
        for view, ready in VIEWS.items():
            walk.view(view, ready)
            b.settle()
            assert b.js("document.documentElement.scrollWidth") <= 390, f"{view} is wider than the screen"
            assert not b.js(TARGETS), f"{view}: {b.js(TARGETS)}"
            if dark or view == "trail":
                walk.shot(f"phone-{view.split('?')[0]}")
        open_first(walk)
        walk.shot("phone-entry")
        b.js("history.back()")
        b.wait("!document.querySelector('.drawer').open")
    b.look()


@step
def large_text(walk):
    """Text twice as large, by the browser's setting and by its zoom: nothing is cut off or needs scrolling sideways."""
    larger = Browser(walk.options.chromium, walk.options.artefacts, "--blink-settings=defaultFontSize=32")
    with larger as large:
        for name, b, width in (("zoom", walk.browser, 660), ("text", large, 1320), ("phone", large, 390)):
            b.look(width, 900)
            reader = Walk(walk.options, b, shots=walk.shots)
            b.open("about:blank")
            if b is large and name == "text":
                b.open(walk.base + "/console")
                reader.sign_in(*walk.options.guardian)
            for view, ready in VIEWS.items():
                reader.view(view, ready)
                if view == "trail":
                    # The export menu and all filters, where they are folded.
                    b.js("document.getElementById('exports').click(); document.querySelector('.fold').click()")
                b.settle()
                assert b.js("parseFloat(getComputedStyle(document.body).fontSize)") == (15 if name == "zoom" else 30)
                assert b.js("document.documentElement.scrollWidth <= innerWidth") and not b.js(CUT_OFF), f"{name}, {view}: {b.js(CUT_OFF)}"
                reader.shot(f"large-{name}-{view.split('?')[0]}")
            open_first(reader)
            assert not b.js(CUT_OFF), f"{name}, entry: {b.js(CUT_OFF)}"
            reader.shot(f"large-{name}-entry")
            b.js("history.back()")
            if name == "phone":
                reader.become(walk.options.admin)
                for view, ready in admin_views(walk).items():
                    reader.view(view, ready)
                    for wide in (1320, 390):
                        b.look(wide, 900)
                        assert b.js("document.documentElement.scrollWidth <= innerWidth") and not b.js(CUT_OFF), f"{name}, {view}: {b.js(CUT_OFF)}"
            walk.shots = reader.shots
        assert not large.problems, large.problems
    walk.browser.look()
