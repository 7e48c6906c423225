"""Questions to the AI, one at a time: the page of an execution, what an error says of itself, and what members see who are no guardians."""
import json

from constraints import EXECUTIONS
from drafts import DRAFTS, draft, family_of
from measures import CONTRAST, check_look, unnamed
from pages import only_text
from walk import step

PAGE = "document.querySelector('.one')"


def ask(walk, person, **options):
    """A person asks for the tone of the newest nag that they have sent or got; returns the question's execution."""
    token = walk.token(person)
    nag = walk.sql(
        f"SELECT id FROM nags WHERE family_id = '{family_of(walk)}' AND '{token['user']['id']}' IN (recipient_id, creator_id)"
        " ORDER BY created_at DESC LIMIT 1")
    return walk.call("POST", "/ai/select-tone", {"nag_id": nag, "task_type": "heuristic", **options}, token["access_token"])["execution"]


@step
def one_question(walk):
    """A question has a page with its rule, route, model, fallback, confirmations, stages and trace, which is copied; its record is exported."""
    b = walk.browser
    trace = "12345678-0000-4000-8000-00000000abcd"
    ask(walk, walk.options.guardian, trace_id=trace, rule_id="AUTO_CLOUD")
    walk.view("executions", f"{EXECUTIONS}.length > 1")
    b.click(".execution footer [data-part=open]")
    b.wait(f"location.hash.includes('trace={trace}') && {PAGE}.querySelectorAll('.execution').length === 1", "the page of the question")
    text = b.js(f"{PAGE}.textContent")
    for wanted in ("AUTO_CLOUD", "The rules were asked for", "Claimed by the client", "the server", "Fallback confirmed", "Constraint confirmed",
                   "The rules", "Model that was asked", "none", "created", "routed", "executed", "completed", trace[:22]):
        assert wanted in text, (wanted, text)
    assert b.js("document.activeElement.matches('.one h2')"), "the focus is at the page's heading"
    assert not b.js("/undefined|NaN|\\[object|Invalid Date/.test(document.body.innerText)")
    only_text(walk)
    b.js("navigator.clipboard || Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}})")
    b.js("if (!window.copied) navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    b.click(".one .copy")
    b.wait(f"window.copied === '{trace}'", "the trace is copied")
    b.click(".one .actions button")
    record = json.loads(walk.downloaded("nagz-ai-question-0000abcd.json"))
    assert record["trace_id"] == trace and [one["execution"]["claimed_rule_id"] for one in record["attempts"]] == ["AUTO_CLOUD"]
    walk.shot("question")
    for dark in (False, True):
        b.look(width=390, height=800, dark=dark, mobile=True)
        check_look(b)
    b.look()
    # One that is not there says so, with its code and its trace.
    b.tolerated = ["status of 404"]
    walk.view("executions?trace=00000000-0000-4000-8000-000000000000", f"{PAGE}.querySelector('.empty[role=alert]')?.textContent.includes('NOT_FOUND')")
    b.tolerated = []
    b.click(".one a.button")
    b.wait(f"location.hash.startsWith('#/executions') && !location.hash.includes('trace=') && {EXECUTIONS}.length > 1", "all questions")


@step
def error_dialog(walk):
    """A dialog about a failure has its code and its trace, to be copied, and tries again."""
    b = walk.browser
    b.tolerated = ["status of 503"]
    walk.view("executions", f"{EXECUTIONS}.length > 1")
    b.hold("*/api/v1/ai/executions/export?*")
    b.js("[...document.querySelectorAll('#main .actions button')].find((one) => one.textContent === 'Export').click()")
    trace = "99999999-0000-4000-8000-000000000001"
    b.answer(b.held(1)[0], 503, json.dumps({"error": {
        "code": "UNAVAILABLE", "message": "The server is busy.", "request_id": "r",
        "details": {"error_code": "E-NET-001", "trace_id": trace, "recoverable": True}}}))
    b.wait("document.querySelector('.errordialog[open]')", "the dialog")
    text = b.js("document.querySelector('.errordialog').textContent")
    assert "The server is busy." in text and "E-NET-001" in text and trace in b.js("document.querySelector('.errordialog').innerHTML"), text
    assert b.js("document.querySelectorAll('.errordialog .copy').length") == 2
    assert not unnamed(b) and not b.js(CONTRAST), (unnamed(b), b.js(CONTRAST))
    walk.shot("error-dialog")
    b.let_all_go()
    b.js("[...document.querySelectorAll('.errordialog button')].find((one) => one.textContent === 'Try again').click()")
    b.wait("!document.querySelector('.errordialog') && [...document.querySelectorAll('.toast')].some((one) => one.textContent.includes('lines exported'))", "the export")
    b.tolerated = []


@step
def own_questions(walk):
    """A member who is no guardian sees their own questions, drafts and constraints, and nothing else."""
    b = walk.browser
    email = walk.options.second[0]
    mine = "SELECT count(*) FROM ai_executions e JOIN users u ON u.id = e.user_id WHERE u.email = '" + email + "'"
    draft(walk, "not theirs")
    with walk.as_participant(walk.options.second):
        ask(walk, walk.options.second)
        walk.become(walk.options.second)
        b.wait(f"location.hash === '' && {EXECUTIONS}.length", "their questions")
        assert b.js("[...document.querySelectorAll('nav a')].map((one) => one.dataset.view)") == ["constraints", "executions", "drafts", "ai"]
        assert b.js(f"{EXECUTIONS}.length") == min(60, int(walk.sql(mine))), walk.sql(mine)
        assert not b.js("document.querySelector('.execution footer a[href*=trail]')"), "the audit log is not theirs to read"
        b.click(".execution footer [data-part=open]")
        b.wait(f"{PAGE}.querySelectorAll('.execution').length >= 1 && !{PAGE}.querySelector('a[href*=trail]')", "the page of their question")
        walk.shot("member-question")
        walk.view("drafts", f"document.querySelector('#main .cards .empty') || {DRAFTS}.length")
        theirs = walk.sql("SELECT count(*) FROM drafts d JOIN users u ON u.id = d.author_id WHERE u.email = '" + email + "'")
        assert b.js(f"{DRAFTS}.length") == min(60, int(theirs)) and "not theirs" not in b.js("document.body.innerText")
        walk.view("constraints", "document.querySelector('.constraintlist')")
        assert b.js("document.querySelector('.actions .primary').textContent") == "New constraint"
        walk.view("ai", "document.querySelector('[name=\"prefs_json.ai_mode\"]')")
        assert b.js("document.querySelector('.answering p').textContent").startswith("The rules"), "what would answer them now"
        walk.view("overview", f"{EXECUTIONS}.length")
        assert not b.js("/undefined|NaN|\\[object|Invalid Date/.test(document.body.innerText)")
    walk.become(walk.options.guardian)


@step
def child_sign_in(walk):
    """A child signs in with the family's code, a user name and a PIN; wrong ones are refused in the form."""
    b = walk.browser
    b.tolerated = ["status of 401"]
    walk.sign_out()
    b.js("[...document.querySelectorAll('.signin button')].find((one) => one.textContent === 'Sign in as a child').click()")
    b.wait("document.activeElement?.id === 'familycode'", "the form for children")
    b.type("ABCD2345")
    b.key("Tab")
    b.type("nobody")
    b.key("Tab")
    b.type("1234")
    b.key("Enter")
    b.wait("document.querySelector('.signin .problem:not([hidden])')", "the refusal")
    assert not unnamed(b) and not b.js(CONTRAST), (unnamed(b), b.js(CONTRAST))
    b.js("[...document.querySelectorAll('.signin button')].find((one) => one.textContent === 'Sign in with an email address').click()")
    walk.sign_in(*walk.options.guardian)
    b.tolerated = []
