"""The front page, and the page about the API: read, searched and used for a first call by keyboard, on a large screen and on a phone."""
import json
import pathlib
import re

from constraints import AT, button, tab_to
from measures import CONTRAST, CUT_OFF, unnamed
from walk import GO, step

# What readers search, and the operation or the section of the guide that they mean.
SEARCHES = {
    "create nag": "createNag", "complete nag": "updateNagStatus", "add child": "createMember",
    "delete nag": "withdrawNag", "webhook": "guide/webhooks", "pagination": "guide/pagination",
    "idempotency": "guide/idempotency", "rate limit": "guide/rate-limits-and-quotas", "error codes": "guide/errors",
    "create family": "createFamily", "sign up": "signUp", "login": "logIn", "log in child": "childLogIn",
    "refresh token": "refreshSession", "logout": "logOut", "new task": "createNag", "list tasks": "listNags",
    "snooze": "updateNag", "edit nag": "updateNag", "cancel nag": "withdrawNag", "hide nag": "dismissNag",
    "undismiss": "undismissNag", "submit excuse": "submitExcuse", "excuses of a nag": "listExcuses",
    "escalation": "getEscalation", "join family": "joinFamily", "leave family": "leaveFamily",
    "list members": "listMembers", "remove member": "removeMember", "invite code": "joinFamily",
    "renew code": "renewFamilyCode", "change pin": "changePIN", "unlock child": "unlockMember",
    "delete account": "deleteAccount", "export my data": "exportAccount", "gdpr": "exportAccount",
    "upload photo": "createAttachment", "get picture": "getAttachment", "leaderboard": "getLeaderboard",
    "points": "getGamificationSummary", "badges": "listBadges", "block user": "createBlock",
    "report abuse": "createAbuseReport", "invite friend": "inviteConnection", "accept invitation": "acceptConnection",
    "grant consent": "grantConsent", "revoke consent": "updateConsent", "list consents": "listConsents",
    "preferences": "getPreferences", "change settings": "updatePreferences", "time zone": "updateFamily",
    "register device": "registerDevice", "push token": "registerDevice", "notifications": "listDeliveries",
    "websocket": "guide/realtime", "offline": "uploadEvents", "import calendar": "importNags",
    "approve draft": "approveDraft", "audit log": "listAuditEvents", "verify audit log": "verifyAuditLog",
    "openai key": "setAIKey", "weekly report": "getWeeklyReport", "ask question": "askCoach",
    "predict": "predictCompletion", "tone": "selectTone", "digest": "generateDigest",
    "authentication": "guide/authentication", "deprecation": "guide/versioning-and-deprecation",
    "etag": "guide/concurrency", "health": "checkLiveness", "privacy policy": "getPrivacyPolicy",
    "child quiet hours": "updateChildSettings", "reward rule": "createIncentiveRule", "coaching tip": "coach",
    "sync": "guide/sync", "sync changes": "syncEvents", "health check": "checkLiveness",
    "recurring nag": "createNag", "mark done": "updateNagStatus", "webhook retry": "guide/webhooks", "webhook payload": "guide/webhooks",
    "receive notification": "receiveNotification", "receive phone code": "receivePhoneCode", "account mail": "receiveAccountMail",
    "offline queue": "uploadEvents", "mute": "updatePreferences", "quiet hours": "updatePreferences", "do not disturb": "updatePreferences",
    "notification preferences": "updatePreferences", "locked": "guide/authentication", "lockout": "guide/authentication",
    "too many attempts": "guide/authentication", "invite grandparent": "inviteConnection", "push notification android": "registerDevice",
    "sign in": "logIn", "log-in": "logIn", "sign out": "logOut", "log out everywhere": "endOtherSessions", "forgot password": "requestPasswordReset",
    "reset password": "resetPassword", "child pin": "changePIN", "change email": "requestEmailChange", "kick member": "removeMember",
    "reschedule": "updateNag", "change due date": "updateNag", "assign task": "createNag", "filter by category": "listNags",
    "comment": "updateNagStatus", "binary_with_note": "createNag", "note": "updateNagStatus", "status note": "updateNagStatus",
    "current user": "getMe", "delivery status": "listDeliveries", "my family id": "listFamilies", "reminder": "createNag",
    "mark task done": "updateNagStatus", "webhook signature": "guide/webhooks", "delete user": "deleteAccount",
    "reward": "createIncentiveRule", "logout everywhere": "endOtherSessions", "recurring": "createNag",
    "refresh access token": "refreshSession", "register": "signUp", "create account": "signUp", "create user": "signUp",
    "change password": "changePassword", "who am i": "getMe", "update profile": "updateMe", "change name": "updateMe",
    "unregister device": "deleteDevice", "streak": "getGamificationSummary", "due date": "createNag", "overdue": "listNags",
    "filter by status": "listNags", "get nag by id": "getNag", "next page": "guide/pagination", "429": "guide/rate-limits-and-quotas",
    "if-match": "guide/concurrency", "bearer token": "guide/authentication", "getting started": "guide/quickstart",
    "hmac": "guide/webhooks", "real time updates": "guide/realtime", "subscribe to events": "guide/realtime",
    "web push": "guide/push-messages-to-browsers", "vapid": "guide/push-messages-to-browsers", "approve reward": "approveIncentiveEvent",
    "attach file": "createAttachment", "download picture": "getAttachment", "regenerate code": "renewFamilyCode",
    "promote to guardian": "addMember", "parental consent": "grantConsent", "terms": "getTermsOfService", "server version": "getVersion",
    "unblock user": "updateBlock", "active sessions": "listSessions", "revoke session": "endSession", "verify phone": "confirmPhone",
    "sms code": "requestPhone", "verify email": "confirmEmailChange", "list models": "listModelProviders", "completed nags": "listNags",
    "statistics": "getFamilyMetrics", "resend notification": "resendDelivery", "set pin": "setChildCredentials", "username": "childLogIn",
    "set username": "setChildCredentials", "chores": "createNag", "homework": "createNag", "daily": "createNag", "ack_only": "createNag",
    "due_at": "createNag", "recipient_id": "createNag", "VALIDATION_ERROR": "guide/errors", "RATE_LIMITED": "guide/errors",
    "playful": "updatePreferences", "retry-after": "guide/rate-limits-and-quotas", "cursor": "guide/pagination", "api key": "setAIKey",
    "child_code": "childLogIn", "invite_code": "joinFamily", "streak_30": "listBadges", "guardian_confirmed": "createIncentiveRule",
    "once_per_phase": "updatePreferences", "conflict": "guide/errors", "get current user": "getMe", "user profile": "getMe",
    "invite by email": "inviteConnection", "email": "requestEmailChange", "add member": "createMember", "invite member": "joinFamily",
    "get notifications": "listDeliveries", "notification settings": "updatePreferences", "push notifications": "registerDevice",
    "fcm token": "registerDevice", "service worker": "guide/push-messages-to-browsers", "create task": "createNag",
    "delete task": "withdrawNag", "update task": "updateNag", "task history": "listNags", "finish task": "updateNagStatus",
    "add comment": "updateNagStatus", "filter": "listNags", "search nags": "listNags", "deadline": "updateNag",
    "repeat weekly": "createNag", "image upload": "createAttachment", "confirm email": "confirmEmailChange", "remove phone": "deletePhone",
    "total points": "getGamificationSummary", "ranking": "getLeaderboard", "achievements": "listBadges",
    "give bonus": "createIncentiveRule", "monthly report": "getFamilyMetrics", "websocket ticket": "createSocketTicket",
    "live updates": "guide/realtime", "error code": "guide/errors", "http status": "guide/errors",
    "throttling": "guide/rate-limits-and-quotas", "quota": "guide/rate-limits-and-quotas", "optimistic locking": "guide/concurrency",
    "base url": "guide/quickstart", "api version": "getVersion", "breaking changes": "guide/versioning-and-deprecation",
    "ping": "checkLiveness", "readiness probe": "checkReadiness", "family members": "listMembers", "role": "addMember",
    "accept invite": "acceptConnection", "decline invite": "declineConnection", "disconnect": "revokeConnection",
    "caregiver": "updateConnectionType", "babysitter": "updateConnectionType", "export csv": "exportAuditEvents",
    "display_name": "updateMe", "suspend user": "suspendRelationship", "report user": "createAbuseReport", "consent status": "listConsents",
    "withdraw consent": "updateConsent", "expired token": "refreshSession", "device_secret": "logIn",
    "streak_reached": "createIncentiveRule", "cancelled_relationship_change": "listNags", "missed": "listNags",
    "idempotency-key": "guide/idempotency", "x-request-id": "guide/requests-and-responses", "pagination limit offset": "guide/pagination",
    "load more": "guide/pagination", "delta": "guide/sync", "list children": "listMembers",
    "mark as done": "updateNagStatus", "filter nags by status": "listNags", "escalate": "getEscalation", "escalated": "getEscalation",
    "reset pin": "setChildCredentials", "assign nag": "createNag", "unregister": "deleteDevice", "POST /api/v1/nags": "createNag",
    "get /nags/{id}": "getNag", "GET /api/v1/me": "getMe", "escalate a nag zebra": "getEscalation",
}
# What there is not.
MISSES = ["two factor", "2fa", "passkey", "graphql", "billing"]
ANSWER = "document.querySelector('[aria-label=\"The answer\"]')"


def go_to(walk, words, title):
    """Searches for an operation with these words, and goes to the first."""
    b = walk.browser
    b.js("document.activeElement.blur()")
    b.key("/")
    b.wait(f"{AT}.id === 'q'", "the search")
    b.js("document.getElementById('q').select()")
    b.type(words)
    b.key("Enter")
    b.wait(f"document.querySelector('main h1').textContent === {json.dumps(title)}", title)


def send(walk, status):
    tab_to(walk, button("Send"))
    walk.browser.key("Enter")
    walk.browser.wait(f"document.querySelector('main .status')?.textContent.startsWith('{status}')", f"an answer with {status}")
    return json.loads(walk.browser.js(f"{ANSWER}.textContent"))


def fill(walk, name, text):
    tab_to(walk, f"{AT}.id === '{name}'")
    walk.browser.js(f"{AT}.select()")
    walk.browser.type(text)


@step
def front_page(walk):
    """From / to the page about the API; readable in light and in dark."""
    b = walk.browser
    for dark in (False, True):
        b.look(dark=dark)
        b.open(walk.base + "/")
        b.wait("document.readyState === 'complete' && document.querySelectorAll('.doors a').length === 4", "the doors")
        assert not b.js(CONTRAST), b.js(CONTRAST)
        assert not unnamed(b), unnamed(b)
    walk.shot("front-page")
    b.look()
    b.click(".doors a")
    b.wait("location.pathname === '/docs' && document.querySelectorAll('.index a').length > 100", "the operations")


@step
def first_call(walk):
    """A newcomer makes a call without a token, signs in, and reads the family's nags, without leaving the page."""
    b = walk.browser
    go_to(walk, "versions of the server", "Get the versions of the server and of its API")
    assert "server_version" in send(walk, 200)
    family = walk.sql(f"SELECT m.family_id FROM memberships m JOIN users u ON u.id = m.user_id WHERE u.email = '{walk.options.guardian[0]}'")
    go_to(walk, "list nags", "List nags")
    fill(walk, "in-family_id--query-", family)
    assert send(walk, 401)["error"]["code"] == "AUTHN_FAILED"
    b.js("location.hash = '#/'")
    b.wait("document.getElementById('in-E-mail')", "where to sign in")
    fill(walk, "in-E-mail", walk.options.guardian[0])
    fill(walk, "in-Password", walk.options.guardian[1])
    b.key("Enter")
    b.wait("document.getElementById('in-Access-token').value.length > 20", "a token")
    go_to(walk, "list nags", "List nags")
    fill(walk, "in-family_id--query-", family)
    fill(walk, "in-limit--query-", "50")  # the page shows the first 200,000 characters of an answer
    assert send(walk, 200)["total"] > 3
    shell = b.js("document.querySelector('main .copy[aria-label*=curl]').getAttribute('aria-label')")
    assert "$TOKEN" in shell and family in shell and b.js("sessionStorage.getItem('nagz.docs.token')") not in shell, shell
    walk.shot("api-page")
    go_to(walk, "create a nag", "Create a nag")
    # Without a search, all operations are there to step through.
    b.js("document.activeElement.blur()")
    b.key("/")
    b.key("Escape")
    b.wait(f"document.querySelectorAll('.index a').length > 100 && {AT}.id === 'main'", "all operations")
    before = b.js("location.hash")
    b.key("j")
    b.wait(f"location.hash !== '{before}'", "the next operation")
    b.key("k")
    b.wait(f"location.hash === '{before}'", "the operation before")


@step
def api_page_on_a_phone(walk):
    """Nothing is cut off at 390 pixels; text has its contrast, and controls have names, in light and in dark."""
    b = walk.browser
    for dark in (False, True):
        b.look(width=390, dark=dark)
        b.open(walk.base + "/docs#/selectTone")
        b.wait("document.readyState === 'complete' && document.querySelector('main textarea')", "the form")
        b.js("for (const one of document.querySelectorAll('main details')) one.open = true")
        b.settle()
        assert not b.js(CUT_OFF), b.js(CUT_OFF)
        assert not b.js(CONTRAST), b.js(CONTRAST)
        assert not unnamed(b), unnamed(b)
        walk.shot(f"api-page-phone-{'dark' if dark else 'light'}")
    # The list is closed beside an operation, and a choice in it leads to the operation's heading.
    top = "document.querySelector('main h1').getBoundingClientRect().top"
    assert b.js(f"document.querySelector('.index').offsetHeight === 0 && {top} < innerHeight / 3"), b.js(top)
    b.click(".menu")
    b.wait("document.querySelector('.index').offsetHeight > 100", "the list")
    b.js("document.querySelector('.index a:has(.method)').click()")
    b.wait(f"document.querySelector('.index').offsetHeight === 0 && {top} > 0 && {top} < innerHeight / 3", "the operation")
    b.look()


@step
def sample_client(walk):
    """The client of openapi/samples, in a browser: it refreshes, pages, repeats a write once, syncs, listens until its session ends, and
    takes only the server's webhooks for its own."""
    b = walk.browser
    b.open(walk.base + "/docs")
    client = (pathlib.Path(__file__).parents[2] / "openapi/samples/client.js").read_text()
    result = b.js("(async () => {" + re.sub(r"(?m)^export ", "", client) + """
        const check = (isTrue, what) => { if (!isTrue) throw new Error(what); };
        const client = new Client(location.origin);
        const [email, password] = [`sam.${crypto.randomUUID().slice(0, 12)}@example.com`, "a long passphrase"];
        client.session = await client.send("POST", "/auth/signup", {email, password, display_name: "Sam"});
        const family = (await client.send("POST", "/families", {name: "The Samples"})).family_id;
        await client.send("POST", "/consents", {family_id: family, consent_type: "child_account_creation"});
        const child = (await client.send("POST", `/families/${family}/members/create`, {display_name: "Kim", role: "child"})).user_id;
        const nag = (description) => ({family_id: family, recipient_id: child, category: "chores", done_definition: "ack_only", description,
            due_at: new Date(Date.now() + 4 * 3_600_000).toISOString()});
        await client.logIn(email, password);
        const first = client.session.refresh_token;
        client.session.access_token = "expired";
        check((await client.send("GET", "/me")).email === email && client.session.refresh_token !== first, "refresh");

        const fetched = window.fetch;
        let lost = 0;
        window.fetch = async (address, options) => {
            const response = await fetched(address, options);
            if (options.headers["Idempotency-Key"] && lost === 0) { lost += 1; throw new TypeError("lost"); }
            return response;
        };
        const made = [];
        for (const words of ["One", "Two", "Three"]) made.push((await client.write("POST", "/nags", nag(words))).id);
        window.fetch = fetched;
        const listed = [];
        for await (const {id} of client.pages(`/nags?family_id=${family}`, 2)) listed.push(id);
        check(lost === 1 && listed.sort().join() === made.sort().join(), `pages: ${listed}, ${made}`);

        const synced = [];
        const cursor = await client.sync(family, "start", ({nags}) => synced.push(...nags.map(({id}) => id)));
        check(synced.sort().join() === made.join(), `sync: ${synced}`);
        const newest = await client.write("POST", "/nags", nag("Four"));
        synced.length = 0;
        await client.sync(family, cursor, ({nags}) => synced.push(...nags.map(({id}) => id)));
        check(synced.join() === newest.id, `sync goes on: ${synced}`);

        const events = [];
        const closed = client.listen(family, (event) => {
            events.push(event.event);
            if (event.event === "nag_created") client.send("POST", "/auth/logout", {refresh_token: client.session.refresh_token});
        });
        const calls = setInterval(() => client.write("POST", "/nags", nag(`At ${performance.now()}`)).catch(() => {}), 1000);
        const code = await closed;
        clearInterval(calls);
        check(code === 4001 && events.includes("nag_created"), `socket: ${code}, ${events}`);

        const secret = "the operator's webhook secret here", body = '{"channel": "push"}', now = Math.floor(Date.now() / 1000);
        const encoder = new TextEncoder();
        const key = await crypto.subtle.importKey("raw", encoder.encode(secret), {name: "HMAC", hash: "SHA-256"}, false, ["sign"]);
        const digits = [...new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(`${now}.${body}`)))]
            .map((byte) => byte.toString(16).padStart(2, "0")).join("");
        const headers = {"nagz-timestamp": `${now}`, "nagz-signature": `v1=${digits}`};
        check(await isSigned(secret, headers, body), "its webhook");
        check(!await isSigned(secret, headers, body + " ") && !await isSigned("another", headers, body), "another webhook");
        check(!await isSigned(secret, headers, body, (now + 301) * 1000), "an old webhook");
        for (const name of Object.keys(headers)) {
            for (const odd of [undefined, "", "tomorrow", "-1", "²", "v1=é"]) check(!await isSigned(secret, {...headers, [name]: odd}, body), `${name}: ${odd}`);
        }
        return "ok";
    })().catch((error) => `${error.message}\n${error.stack}`)""")
    assert result == "ok", result


@step
def every_operation_is_shown(walk):
    """Each operation and webhook of the document has its page, without a value that is none or a mark of code, with its fields as wide
    as their list and the answer that was recorded; webhooks, which nobody sends from here, have the message instead of a form."""
    b = walk.browser
    b.open(walk.base + "/docs")
    b.wait("document.querySelectorAll('.index a').length > 100", "the operations")
    faults = b.js("""(async () => {
        const go = """ + GO + """
        const faults = [];
        const {paths, webhooks} = await (await fetch('/openapi.json')).json();
        const received = new Set(Object.values(webhooks).map(({post}) => '#/' + post.operationId));
        const missing = [...received].filter((hash) => !document.querySelector(`.index a[href="${hash}"]`));
        if (received.size < 3 || missing.length) faults.push('webhooks: ' + missing);
        const isAnswered = ([status, {content}]) => status < '300' && content?.['application/json']?.example !== undefined;
        const recorded = new Set(Object.values(paths).flatMap(Object.values)
            .filter(({responses}) => Object.entries(responses).some(isAnswered)).map(({operationId}) => operationId));
        for (const link of [...document.querySelectorAll('.index a:has(.method)')].map((one) => one.hash)) {
            await go(link);
            for (const one of document.querySelectorAll('main details')) one.open = true;
            await new Promise(requestAnimationFrame);
            const text = document.querySelector('main').innerText;
            if (/undefined|NaN|`|\\[object/.test(text) || !document.querySelector('main form') !== received.has(link)) faults.push(link);
            if (received.has(link) && !(text.includes('Example request') && text.includes('delivery_id') && text.includes('Nagz-Signature (header)'))) faults.push(link + ' has no message');
            const isNarrow = (one) => one.offsetWidth < one.parentElement.clientWidth - 40;
            if ([...document.querySelectorAll('main .fields > li')].some(isNarrow)) faults.push(link + ' has narrow fields');
            if (recorded.has(link.slice(2)) && !text.includes('Example response')) faults.push(link + ' has no answer');
        }
        return faults;
    })()""")
    assert not faults, faults


@step
def guide(walk):
    """Each section of the guide is shown without a mark of Markdown, and each of its links leads somewhere, also on a phone."""
    b = walk.browser
    for width in (1280, 390):
        b.look(width=width)
        b.open(walk.base + "/docs#/guide/quickstart")
        b.wait("document.querySelector('main h1')?.textContent === 'Quickstart'", "the quickstart")
        faults = b.js("""(async () => {
            const go = """ + GO + """
            const faults = [];
            for (const link of [...document.querySelectorAll('.index a[href^="#/guide/"]')]) {
                await go(link.hash);
                const main = document.querySelector('main');
                if (main.querySelector('h1').textContent !== link.textContent) faults.push(link.hash);
                const prose = [...main.querySelectorAll('p, li, td, th, h2, h3')].map((one) => one.innerText).join('\\n');
                if (/\\*\\*|`|\\]\\(|\\|/.test(prose)) faults.push(link.hash + ' has marks');
                for (const inner of main.querySelectorAll('a[href^="#"]')) {
                    if (![...document.querySelectorAll('.index a')].some((one) => one.hash === inner.hash)) faults.push(link.hash + ' leads to ' + inner.hash);
                }
            }
            return faults;
        })()""")
        assert not faults, faults
        assert b.js("document.querySelectorAll('.index a[href^=\"#/guide/\"]').length") > 10
        assert not b.js(CUT_OFF), b.js(CUT_OFF)
    assert not b.js(CONTRAST), b.js(CONTRAST)
    walk.shot("guide-phone")
    b.look()


@step
def links(walk):
    """A link leads to its operation or section with and without a slash; one that leads nowhere opens the page's beginning."""
    b = walk.browser
    for link, title in (("updateNagStatus", "Update the status of a nag to completed"), ("/updateNagStatus", "Update the status of a nag to completed"),
                        ("guide/webhooks", "Webhooks"), ("receiveNotification", "Receive a notification for a person"), ("nothing", "Nagz")):
        b.open("about:blank")
        b.open(f"{walk.base}/docs#{link}")
        b.wait(f"document.querySelector('main h1')?.textContent === {json.dumps(title)}", link)
        assert b.js("document.querySelectorAll('.index [aria-current]').length") == (link != "nothing"), link
    # Also on the page itself, where an operation is open.
    b.js("location.hash = '#createNag'")
    b.wait("document.querySelector('main h1').textContent === 'Create a nag' && location.hash === '#/createNag'", "the operation")


@step
def searches(walk):
    """Each of these searches finds its operation, webhook or section of the guide first; others say that there is nothing."""
    b = walk.browser
    b.open(walk.base + "/docs")
    b.wait("document.querySelectorAll('.index a').length > 100", "the operations")

    # Other words are given to what there is.
    unknown = b.js("""import('/docs/search.js').then(({aliases}) => Object.keys(aliases)
        .filter((key) => !['#/' + key, '#/guide/' + key].some((hash) => document.querySelector(`.index a[href="${hash}"]`))))""")
    assert not unknown, unknown

    def search(words):
        b.js(f"(() => {{ const q = document.getElementById('q'); q.value = {json.dumps(words)}; q.dispatchEvent(new Event('input')) }})()")

    for words, target in SEARCHES.items():
        search(words)
        first = b.js("document.querySelector('.index a')?.hash")
        assert first == "#/" + target, f"“{words}” finds {first} before {target}"
    assert len(SEARCHES) > 200
    # What only mentions the words is below what is about them.
    search("note")
    assert b.js("[...document.querySelectorAll('.index h2')].map((one) => one.textContent)") == ["Found", "In fields and descriptions"]
    # Where no entry has all words, the page says so.
    search("escalate a nag zebra")
    assert b.js("document.querySelector('.index h2').textContent") == "With most of these words"
    for words in MISSES:
        search(words)
        assert not b.js("document.querySelector('.index a')") and b.js("document.querySelector('.index').textContent").startswith("Nothing found"), words
