"""The constraints of the AI: list, form, simulator and files, by keyboard alone, on a large screen and on a phone."""
import json

from measures import CONTRAST, check_look
from pages import HOSTILE, only_text, states
from walk import step

ROWS = "[...document.querySelectorAll('.constraint')]"
NAMES = f"{ROWS}.map((one) => one.querySelector('h3 bdi').textContent)"
EXECUTIONS = "[...document.querySelectorAll('.execution')]"
VERDICT = "document.querySelector('.simulator .verdict')"
# What a screen reader says is wrong with the control that has the focus.
PROBLEM = "document.getElementById(document.activeElement.getAttribute('aria-describedby').split(' ').at(-1)).textContent"
AT = "document.activeElement"


def tab_to(walk, condition, shift=False):
    """Goes on with the Tab key until the control that has the focus is the wanted one."""
    b = walk.browser
    for _ in range(150):
        b.key("Tab", shift=shift)
        if b.js(f"!!({condition})"):
            assert b.js(f"getComputedStyle({AT}).outlineStyle !== 'none' || !!{AT}.closest('.searchbox')"), f"the focus is not visible: {condition}"
            return
    raise AssertionError(f"the Tab key never came to {condition}")


def button(text, within="main"):
    return f"{AT}.tagName === 'BUTTON' && {AT}.textContent === '{text}' && {AT}.closest('{within}')"


def replace(walk, text):
    walk.browser.js(f"{AT}.select()")
    walk.browser.type(text)


def stored(walk):
    """The stored constraints of the family: name, priority, whether it is enabled."""
    rows = walk.sql("SELECT json_build_array(name, priority, enabled) FROM ai_constraints ORDER BY priority, id")
    return [json.loads(row) for row in rows.splitlines()]


def make(walk, name, word):
    """Makes a constraint of two conditions. The server refuses it five times; each time the focus is at the field."""
    b = walk.browser
    count = len(stored(walk))
    b.key("g")
    b.key("r")
    b.wait(f"{VERDICT} && {NAMES}", "the page")
    assert b.js(f"{VERDICT}.textContent") == "", "the simulator speaks before there is a question"
    tab_to(walk, button("New constraint"))
    b.key("Enter")
    b.wait(f"location.hash === '#/constraints?edit=new' && {AT}.name === 'name'", "the form")
    b.key("Enter")
    b.wait(f"{AT}.name === 'value' && {AT}.getAttribute('aria-invalid') === 'true'", "a condition without a value")
    assert b.js(PROBLEM) == "The value (entry 1) must not be empty.", b.js(PROBLEM)
    b.type(f"{word}||passport")
    ask = "(text) => { const field = document.querySelector('[name=content]'); field.value = text; field.dispatchEvent(new Event('input', {bubbles: true})) }"
    b.js(f"({ask})('a question')")
    b.wait(f"{VERDICT}.textContent.includes('Complete the constraint in the form first')")
    b.js(f"({ask})('')")
    b.wait(f"{VERDICT}.textContent === ''", "no word without a question")
    tab_to(walk, button("Add a condition"))
    b.key("Enter")
    b.wait(f"{AT}.name === 'field' && {AT}.closest('.condition').getAttribute('aria-label') === 'Condition 2'", "the second condition")
    b.key("ArrowDown")
    b.wait(f"{AT}.value === 'token_count' && {AT}.closest('.condition').querySelector('[name=operator]').value === 'exceeds'", "operators of the token count")
    b.key("Tab")
    assert b.js(f"[...{AT}.options].map((one) => one.value)") == ["exceeds", "lessThan", "equals", "notEquals"]
    b.key("Tab")
    b.type("many")
    b.key("Enter")
    b.wait(f"{AT}.value === '{word}||passport' && {AT}.getAttribute('aria-invalid') === 'true'", "the first condition is refused")
    assert b.js(PROBLEM).startswith("The value "), b.js(PROBLEM)
    replace(walk, f"{word}|passport")
    b.key("Enter")
    b.wait(f"{AT}.value === 'many' && {AT}.getAttribute('aria-invalid') === 'true'", "the second condition is refused")
    assert b.js(PROBLEM).startswith("The value "), b.js(PROBLEM)
    replace(walk, "2")
    b.key("Enter")
    b.wait(f"{AT}.name === 'reason' && {AT}.getAttribute('aria-invalid') === 'true'", "an action without its text")
    b.type("No numbers of documents, please")
    tab_to(walk, button("Create"))
    b.key("Enter")
    b.wait(f"{AT}.name === 'name' && {AT}.getAttribute('aria-invalid') === 'true'", "a constraint without a name")
    assert b.js(PROBLEM) == "The name must not be empty.", b.js(PROBLEM)
    b.type(name)
    assert len(stored(walk)) == count, "what was refused is stored"
    # Before it is saved: what it would do.
    tab_to(walk, f"{AT}.name === 'content'")
    b.type(f"the {word.lower()} of my aunt")
    b.wait(f"{VERDICT}.textContent.includes('Nobody would answer') && {VERDICT}.textContent.includes('No numbers of documents, please') && {VERDICT}.textContent.includes('E-POLICY-001')", "the form's constraint")
    tab_to(walk, f"{AT}.name === 'with_form'")
    b.key(" ")
    b.wait(f"{VERDICT}.textContent.includes('The device would answer')", "without the form's constraint")
    walk.shot(f"constraint-{b.js('innerWidth')}")
    tab_to(walk, button("Create"), shift=True)
    b.key("Enter")
    b.wait(f"{NAMES}.includes({json.dumps(name)}) && {AT}.textContent === 'Edit' && {AT}.getAttribute('aria-label') === {json.dumps('Edit ' + name)}", "the new constraint")
    assert len(stored(walk)) == count + 1
    b.wait(f"{VERDICT}.textContent.includes('Nobody would answer') && {VERDICT}.textContent.includes({json.dumps(name)})", "the saved constraint in the simulator")


@step
def constraints(walk):
    """A guardian makes two constraints, moves, switches off, tries, changes and deletes."""
    b = walk.browser
    b.tolerated = ["status of 4"]
    walk.sql("DELETE FROM ai_constraints")
    walk.view("constraints", "document.querySelector('.constraintlist .empty')")
    make(walk, "No documents", "SSN")
    # Another one from a template.
    tab_to(walk, button("New constraint"), shift=True)
    b.key("Enter")
    b.wait(f"{AT}.name === 'name'")
    b.key("Tab", shift=True)
    for _ in range(2):
        b.key("ArrowDown")
    b.wait("document.querySelector('[data-part=form] input[name=name]').value === 'Warn on Large Queries' && document.querySelector('[data-part=form] [name=message]')", "a template")
    b.key("Tab")
    b.key("Enter")
    b.wait(f"{ROWS}.length === 2")
    assert stored(walk) == [["No documents", 1, True], ["Warn on Large Queries", 2, True]], stored(walk)
    assert "If token count exceeds 5000, then warn with message:" in b.js(f"{ROWS}[1].textContent")
    # Its order, by its buttons and by Alt and the arrows; the focus stays at it.
    b.wait(f"{AT}.getAttribute('aria-label') === 'Edit Warn on Large Queries'")
    tab_to(walk, f"{AT}.getAttribute('aria-label') === 'Move up Warn on Large Queries'", shift=True)
    b.key("Enter")
    b.wait(f"{NAMES}[0] === 'Warn on Large Queries' && {AT}.getAttribute('aria-label') === 'Move down Warn on Large Queries'", "moved up")
    assert stored(walk) == [["Warn on Large Queries", 1, True], ["No documents", 2, True]], stored(walk)
    b.key("ArrowDown", alt=True)
    b.wait(f"{NAMES}[1] === 'Warn on Large Queries' && {AT}.closest('.constraint') === {ROWS}[1]", "moved down")
    # On and off.
    tab_to(walk, f"{AT}.getAttribute('role') === 'switch' && {AT}.closest('.constraint') === {ROWS}[0]", shift=True)
    b.key(" ")
    b.wait(f"{ROWS}[0].querySelector('.badge.warn')?.textContent === 'off' && {AT}.getAttribute('role') === 'switch' && !{AT}.checked", "switched off")
    assert stored(walk)[0] == ["No documents", 1, False]
    b.wait(f"{VERDICT}.textContent.includes('The device would answer')", "the simulator does without it")
    b.key(" ")
    b.wait(f"!{ROWS}[0].querySelector('.badge.warn') && {AT}.checked && {VERDICT}.textContent.includes('Nobody would answer')", "switched on")
    # The state that the router knows, and a refusal in the simulator.
    tab_to(walk, f"{AT}.name === 'content'")
    replace(walk, "a question")
    b.wait(f"{VERDICT}.textContent.includes('AUTO_LOCAL')")
    b.key("Tab")
    b.type("9000")
    b.wait(f"{VERDICT}.textContent.includes('Warning: This query is large') && {VERDICT}.textContent.includes('The server would answer')")
    replace(walk, "-1")
    b.wait(f"{AT}.getAttribute('aria-invalid') === 'true' && {AT}.name === 'token_count' && {VERDICT}.textContent.includes('This cannot be tried yet')", "a refused number")
    replace(walk, "9000")
    tab_to(walk, f"{AT}.tagName === 'SUMMARY'")
    b.key("Enter")
    tab_to(walk, f"{AT}.name === 'network'")
    b.key("ArrowDown")
    b.wait(f"{VERDICT}.textContent.includes('NETWORK_UNAVAILABLE') && {VERDICT}.textContent.includes('E-NET-001')", "offline")
    walk.shot("simulator")
    # A change sends what was changed alone: the name that somebody else has given stays.
    b.js(f"{ROWS}[1].querySelector('[data-part=edit]').focus()")
    b.key("Enter")
    b.wait(f"{AT}.name === 'name' && {AT}.value === 'Warn on Large Queries'")
    walk.sql("UPDATE ai_constraints SET name = 'Large ones' WHERE priority = 2")
    tab_to(walk, f"{AT}.name === 'priority'")
    replace(walk, "1")
    b.key("Enter")
    b.wait(f"{NAMES}[0] === 'Large ones' && {AT}.getAttribute('aria-label') === 'Edit Large ones'", "a constraint that moves the other")
    assert stored(walk) == [["Large ones", 1, True], ["No documents", 2, True]], stored(walk)
    # Escape is no, Enter is yes.
    tab_to(walk, button("Delete"))
    b.key("Enter")
    b.wait("document.querySelector('dialog.help[open]')?.textContent.includes('If token count exceeds 5000')", "the question")
    b.key("Escape")
    b.wait(f"!document.querySelector('dialog.help') && {AT}.textContent === 'Delete'", "focus is back")
    assert len(stored(walk)) == 2
    b.key("Enter")
    b.wait("document.querySelector('dialog.help[open]')?.contains(document.activeElement)")
    b.key("Enter")
    b.wait(f"{NAMES}.length === 1")
    assert stored(walk) == [["No documents", 2, True]], stored(walk)
    b.tolerated = []


def choose_file(walk, document):
    """What the dialog of the operating system does after the reader has chosen a file."""
    b = walk.browser
    place = walk.options.artefacts / "import.json"
    place.write_text(document if isinstance(document, str) else json.dumps(document))
    b.js("document.getElementById('importfile').value = ''")
    root = b.command("DOM.getDocument")["root"]["nodeId"]
    node = b.command("DOM.querySelector", nodeId=root, selector="#importfile")["nodeId"]
    b.command("DOM.setFileInputFiles", files=[str(place)], nodeId=node)


@step
def constraint_files(walk):
    """An export, and an import that says what it would do before it does it."""
    b = walk.browser
    b.tolerated = ["status of 4"]
    walk.view("constraints", f"{NAMES}.length === 1")
    b.js("document.querySelector('#main').focus()")
    tab_to(walk, button("Export"))
    b.key("Enter")
    b.wait("[...document.querySelectorAll('.toast')].some((one) => one.textContent === 'One constraint exported')")
    found = json.loads(walk.downloaded("nagz-constraints-*.json"))
    assert found["schema_version"] == 1 and [one["name"] for one in found["constraints"]] == ["No documents"], found
    first = found["constraints"][0]
    tab_to(walk, button("Import"))
    b.key("Enter")
    b.wait("document.querySelector('dialog.help[open]')?.contains(document.activeElement)", "the question for a file")
    problem = "document.querySelector('dialog.help .problem')"
    choose_file(walk, "no JSON")
    b.wait(f"!{problem}.hidden && {problem}.textContent === 'This file is not JSON. Choose one that was exported here.'")
    wrong = dict(first, name="Too soon", priority=0)
    choose_file(walk, dict(found, constraints=[first, wrong]))
    b.wait(f"{problem}.textContent.startsWith('Refused because of Too soon: The priority')", "which one, and why")
    assert b.js("document.querySelector('dialog.help .primary').disabled") and len(stored(walk)) == 1
    hostile = dict(first, name=HOSTILE[:80], priority=2)
    choose_file(walk, dict(found, constraints=[hostile, dict(first, name="Mine", scope="own", priority=5)]))
    b.wait(f"document.querySelector('dialog.help .outcome h3')?.textContent === 'It would add 2 constraints' && {problem}.hidden", "a dry run")
    text = b.js("document.querySelector('dialog.help .outcome').textContent")
    assert "Own, privacy, priority 5" in text and "No documents to priority 3" in text, text
    assert len(stored(walk)) == 1, "the dry run has done it"
    only_text(walk)
    assert not b.js(CONTRAST), b.js(CONTRAST)
    walk.shot("import")
    tab_to(walk, button("Import", "dialog"))
    b.key("Enter")
    b.wait(f"!document.querySelector('dialog.help') && {NAMES}.length === 3", "the import")
    assert stored(walk) == [[HOSTILE[:80], 2, True], ["No documents", 3, True], ["Mine", 5, True]], stored(walk)
    only_text(walk)
    b.tolerated = []


@step
def constraints_on_a_phone(walk):
    """All of it at 390 pixels, with the same keys."""
    b = walk.browser
    b.tolerated = ["status of 4"]
    b.look(390, 844, mobile=True)
    walk.view("overview", "document.querySelector('.health')")
    make(walk, "No accounts", "IBAN")
    for dark in (False, True):
        b.look(390, 844, dark=dark, mobile=True)
        walk.view("constraints?edit=new", "document.querySelector('[data-part=form]') && document.querySelector('.simulator')")
        b.js("document.querySelector('[data-part=form] form').requestSubmit()")
        b.wait(f"{AT}.getAttribute('aria-invalid') === 'true'")
        check_look(b)
        walk.shot(f"phone-constraints-{'dark' if dark else 'light'}")
        walk.view("constraints", "!document.querySelector('[data-part=form]')")
    b.look()
    b.tolerated = []


@step
def constraints_of_others(walk):
    """Who is no guardian any more reads the family's and tries them, and changes only their own."""
    b = walk.browser
    # No request is on its way when the role changes: a late one of the overview would be refused.
    walk.view("drafts", "document.querySelector('.draft, .cards .empty')")
    with walk.as_participant(walk.options.guardian):
        walk.view("constraints", f"{NAMES}.length === 4 && {VERDICT}")
        own = f"{ROWS}.filter((one) => one.querySelector('.badge').textContent === 'Only me')"
        assert b.js(f"{own}.length") == 1 and b.js("document.querySelectorAll('[role=switch]').length") == 1
        assert b.js(f"{own}[0].querySelectorAll('footer button').length") == 4 and b.js("document.querySelectorAll('.constraint footer').length") == 1
        family = b.js(f"{ROWS}.find((one) => !one.querySelector('footer')).dataset.id")
        walk.view(f"constraints?edit={family}", f"{NAMES}.length === 4")
        assert not b.js("document.querySelector('[data-part=form]')"), "the form of a constraint that is not theirs"
        walk.view("constraints?edit=new", "document.querySelector('[data-part=form]')")
        assert b.js("[...document.querySelector('[name=scope]').options].map((one) => one.value)") == ["own"]
    states(walk, "*/api/v1/ai/constraints?*", "constraints", f"{NAMES}.length === 4")


@step
def questions_asked(walk):
    """What a guardian asked the AI is listed, filtered, and followed into the audit log; a refused question says why."""
    b, guardian = walk.browser, walk.token(walk.options.guardian)["access_token"]
    family, nag = walk.sql(
        "SELECT n.family_id || ' ' || n.id FROM nags n JOIN memberships m ON m.family_id = n.family_id JOIN users u ON u.id = m.user_id"
        f" WHERE u.email = '{walk.options.guardian[0]}' LIMIT 1").split()
    walk.call("POST", "/ai/constraints", {
        "family_id": family, "scope": "own", "name": "No submarines", "type": "privacy", "priority": 900,
        "conditions": [{"field": "content", "operator": "contains", "value": "submarine"}],
        "action": {"type": "block", "reason": HOSTILE}}, guardian)
    walk.call("POST", "/ai/select-tone", {"nag_id": nag}, guardian)
    try:
        walk.call("POST", "/ai/summarize-excuse", {"nag_id": nag, "text": "The submarine was late"}, guardian)
    except AssertionError as refusal:
        assert "403" in str(refusal), refusal
    else:
        raise AssertionError("the question was answered")
    walk.view("executions", f"{EXECUTIONS}.length > 1")
    newest = f"{EXECUTIONS}[0].textContent"
    assert b.js(f"{newest}.includes('Excuse summary') && {newest}.includes('E-POLICY-001')"), b.js(newest)
    b.wait("document.querySelector('.answering:not([hidden])')", "what can answer")
    engines = b.js("[...document.querySelectorAll('.providers li')].map((one) => one.textContent)")
    assert len(engines) == 5 and engines[0].startswith("Rules") and "in use" in engines[0] and "not set up" in engines[2], engines
    only_text(walk)
    walk.shot("executions")
    b.js("document.querySelector('.segments [data-name=success]').click()")
    b.wait(f"location.hash === '#/executions?result=success' && {EXECUTIONS}.length && !{EXECUTIONS}.some((one) => one.textContent.includes('E-POLICY'))", "answers only")
    b.js("document.querySelector('.execution footer a[href*=trail]').click()")
    b.wait("location.hash.includes('trace_id=') && document.querySelectorAll('tr[data-n]').length >= 1", "its trace in the audit log")


@step
def ai_settings(walk):
    """A person's AI settings: what each means, a refusal at its field, a change that is saved, and what would answer now."""
    b = walk.browser
    b.tolerated = ["status of 4"]
    now, meaning = "(document.querySelector('[aria-label=Now] p')?.textContent ?? '')", "document.querySelector('[aria-label=Settings] p').textContent"

    def control(name):
        return f"document.querySelector('[name=\"prefs_json.{name}\"]')"

    def choose(mode):
        b.js(f"{control('ai_mode')}.value = '{mode}'; {control('ai_mode')}.dispatchEvent(new Event('input', {{bubbles: true}}))")

    walk.view("ai", f"{control('ai_mode')} && {now} === 'The rules.'")
    days = control("ai_log_retention_days")
    b.js(f"{days}.value = '6'; {days}.form.requestSubmit()")
    b.wait(f"{days}.getAttribute('aria-invalid') === 'true'", "the refusal at its field")
    b.js(f"{days}.value = '60'")
    choose("off")
    assert b.js(meaning).startswith("Nothing answers your questions"), b.js(meaning)
    b.js(f"{days}.form.requestSubmit()")
    b.wait(f"{now}.startsWith('Nothing: the AI is switched off')", "what would answer")
    assert b.js(f"{days}.value") == "60", "the days are saved"
    choose("byo_only")
    b.js(f"{days}.form.requestSubmit()")
    b.wait(f"{now}.startsWith('Nothing: your mode asks for a key')", "what would answer without a key")
    only_text(walk)
    walk.shot("ai-settings")
    choose("heuristic")
    b.js(f"{days}.form.requestSubmit()")
    b.wait(f"{now} === 'The rules.'", "the rules")
    b.tolerated = []
