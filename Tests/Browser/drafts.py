"""Drafts of what the AI would do: read, edited, approved, confirmed and executed by keyboard alone, on a large screen and on a phone."""
import json

from constraints import AT, button, tab_to
from measures import check_look
from pages import HOSTILE, only_text
from walk import step

DRAFTS = "[...document.querySelectorAll('.draft')]"


def family_of(walk):
    return walk.sql(f"SELECT m.family_id FROM memberships m JOIN users u ON u.id = m.user_id WHERE u.email = '{walk.options.guardian[0]}'")


def draft(walk, text):
    """The guardian has a nag drafted from words."""
    token = walk.token(walk.options.guardian)["access_token"]
    return walk.call("POST", "/ai/drafts", {"family_id": family_of(walk), "kind": "suggested_nag", "text": text, "source": "voice"}, token)["id"]


def state(walk, draft_id):
    return json.loads(walk.sql(f"SELECT json_build_array(state, version) FROM drafts WHERE id = '{draft_id}'"))


def press(walk, title, draft_id):
    """Goes to a button of the draft's card by Tab, and presses it."""
    tab_to(walk, f"{button(title)} && {AT}.closest('[data-id=\"{draft_id}\"]')")
    walk.browser.key("Enter")


def answer(walk, title):
    """Answers the dialog."""
    walk.browser.wait("document.querySelector('dialog.help[open]')", "the question")
    tab_to(walk, button(title, "dialog.help"))
    walk.browser.key("Enter")
    walk.browser.wait("!document.querySelector('dialog.help')", "the answer")


def shown(walk, draft_id, name):
    walk.browser.wait(f"document.querySelector('[data-id=\"{draft_id}\"]')?.dataset.state === '{name}'", f"the draft is {name}")


@step
def drafts(walk):
    """A guardian takes a draft all its way by keyboard; another one is rejected; its words are only text."""
    b = walk.browser
    hostile, wanted = draft(walk, HOSTILE), draft(walk, "the dog is fed tomorrow at 5")
    walk.view("overview", "document.querySelector('.health')")
    b.key("g")
    b.key("f")
    b.wait(f"location.hash === '#/drafts' && {DRAFTS}.length >= 2", "the drafts")
    only_text(walk)
    press(walk, "Edit", wanted)
    b.wait(f"{AT}.closest('form') && document.querySelector('[data-id=\"{wanted}\"] form')", "the form")
    tab_to(walk, f"{AT}.tagName === 'TEXTAREA'")
    b.js(f"{AT}.select()")
    b.type("Feed the dog, and the cat")
    tab_to(walk, button("Save"))
    b.key("Enter")
    b.wait(f"document.querySelector('[data-id=\"{wanted}\"] .rule').textContent.includes('and the cat')", "the edited draft")
    assert state(walk, wanted) == ["draft", 2], state(walk, wanted)
    press(walk, "Approve", wanted)
    answer(walk, "Approve")
    shown(walk, wanted, "approved")
    press(walk, "Confirm", wanted)
    shown(walk, wanted, "confirmed")
    walk.shot("draft-confirmed")
    press(walk, "Execute", wanted)
    shown(walk, wanted, "executed")
    assert walk.sql("SELECT count(*) FROM nags WHERE description = 'Feed the dog, and the cat'") == "1"
    press(walk, "Reject", hostile)
    answer(walk, "Reject")
    shown(walk, hostile, "rejected")
    b.js("document.querySelector('.segments [data-name=executed]').click()")
    b.wait(f"location.hash === '#/drafts?state=executed' && {DRAFTS}.length && {DRAFTS}.every((one) => one.dataset.state === 'executed')", "what was done")


@step
def late_draft(walk):
    """A draft that somebody else edits in between is not approved: the card says so, and loads it again."""
    b = walk.browser
    b.tolerated = ["status of 409"]
    wanted = draft(walk, "the plants")
    walk.view("drafts?state=draft", f"document.querySelector('[data-id=\"{wanted}\"]')")
    token = walk.token(walk.options.second)["access_token"]
    walk.call("PATCH", f"/ai/drafts/{wanted}", {"body": {"category": "meds"}}, token)
    press(walk, "Approve", wanted)
    answer(walk, "Approve")
    problem = f"document.querySelector('[data-id=\"{wanted}\"] .problem')"
    b.wait(f"{problem} && !{problem}.hidden && {problem}.textContent.includes('changed in the meantime')", "the refusal")
    press(walk, "Load again", wanted)
    b.wait(f"document.querySelector('[data-id=\"{wanted}\"] .rule').textContent.includes('Meds')", "the draft as it is")
    b.tolerated = []


@step
def drafts_on_a_phone(walk):
    """390 pixels wide, nothing is cut off; text has its contrast, and controls have names, in light and in dark."""
    b = walk.browser
    draft(walk, "W" * 120)
    for dark in (False, True):
        b.look(width=390, dark=dark)
        walk.view("drafts", f"{DRAFTS}.length > 1")
        b.js("document.querySelector('.draft [data-part=edit]').click()")
        b.wait("document.querySelector('.draft form')", "the form")
        check_look(b)
        walk.shot(f"drafts-phone-{'dark' if dark else 'light'}")
    b.look()
