"""Late answers, and the drawer as an address."""
from walk import step

LIST = "*/api/v1/audit/events?*"
ENTRY = "*/api/v1/audit/events/*/*"


def choose_kind(kind):
    return f"(() => {{ const kind = document.querySelector('select[name=kind]'); kind.value = '{kind}'; kind.dispatchEvent(new Event('change')) }})()"


@step
def late_filters(walk):
    """Two filters in quick succession: the answer to the first comes last, and is not shown."""
    b = walk.browser
    walk.audit_log(least=20)
    b.hold(LIST)
    b.js(choose_kind("nag.created"))
    first = b.held(1)[0]
    b.js(choose_kind("session.opened"))
    second = b.held(2)[1]
    b.let_go(second)
    only = "document.querySelectorAll('tr[data-n]').length > 0 && [...document.querySelectorAll('.kind')].every((kind) => kind.textContent === 'session.opened')"
    b.wait(only)
    b.let_go(first)
    b.settle()
    assert b.js(only), "the late answer is shown"
    b.let_all_go()


@step
def late_entries(walk):
    """Two entries in quick succession: the drawer shows the one that was asked for last."""
    b = walk.browser
    walk.audit_log("?kind=nag.created", 5)
    rows = b.js("[...document.querySelectorAll('tr[data-n]')].slice(0, 2).map((row) => `${row.dataset.family}/${row.dataset.n}`)")
    b.hold(ENTRY)
    b.js(f"location.hash = '#/trail?kind=nag.created&open={rows[0]}'")
    first = b.held(1)[0]
    b.js(f"location.hash = '#/trail?kind=nag.created&open={rows[1]}'")
    b.let_go(b.held(2)[1])
    head = f"document.querySelector('.drawerhead').textContent.includes('entry {rows[1].split('/')[1]}') && document.querySelector('.drawer .kind')"
    b.wait(head)
    b.let_go(first)
    b.settle()
    assert b.js(f"!!({head})"), "the late answer is shown"
    b.let_all_go()
    b.key("Escape")
    b.wait("!document.querySelector('.drawer').open")


@step
def drawer_is_an_address(walk):
    """Back closes the drawer, Forward opens it again, a link leads to it, Escape always closes it."""
    b = walk.browser
    walk.audit_log("?kind=nag.created", 5)
    b.js("document.querySelectorAll('tr[data-n]')[2].click()")
    b.wait("document.querySelector('#verdict.good') && location.hash.includes('open=')")
    address = b.js("location.href")
    b.js("[...document.querySelectorAll('.drawer .linkbox')][0].click()")
    b.wait(f"location.href !== {address!r} && document.querySelector('#verdict.good')")
    b.js("history.back()")
    b.wait("!document.querySelector('.drawer').open && !location.hash.includes('open=')", "Back closes it, however many entries were looked at")
    assert b.js("document.querySelectorAll('tr[data-n]').length") >= 5 and "kind=nag.created" in b.js("location.hash"), "the list is where it was"
    b.js("history.forward()")
    b.wait("document.querySelector('.drawer').open && document.querySelector('#verdict.good')")
    # Focus stays inside, in both directions.
    for shift in (False, True):
        for _ in range(25):
            b.key("Tab", shift=shift)
            assert b.js("document.querySelector('.drawer').contains(document.activeElement)"), "focus has left the drawer"
    b.js("document.activeElement.blur()")
    b.key("Escape")
    b.wait("!document.querySelector('.drawer').open && !location.hash.includes('open=')", "Escape closes it, wherever the focus is")
    b.open("about:blank")
    b.open(address)
    b.wait("document.querySelector('#verdict.good')", "a link to an entry")
    b.key("Escape")
    b.wait("!document.querySelector('.drawer').open && !location.hash.includes('open=')")
    walk.view("consents", "document.querySelectorAll('.history button').length > 2")
    b.click(".history button")
    b.wait("document.querySelector('#verdict.good') && location.hash.startsWith('#/consents?open=')")
    b.js("document.activeElement.blur()")
    b.key("Escape")
    b.wait("!document.querySelector('.drawer').open && location.hash === '#/consents'")
