// The page's shell: sign-in state, views and navigation.
import "/console/keyboard.js";
import {aiSettings} from "/console/aisettings.js";
import {beginView, get, isSignedIn, me, onSessionEnd, ownMembership, signOut} from "/console/api.js";
import {auditLog} from "/console/auditlog.js";
import {consents} from "/console/consents.js";
import {constraints} from "/console/constraints.js";
import {decisions} from "/console/decisions.js";
import {deliveries} from "/console/deliveries.js";
import {drafts} from "/console/drafts.js";
import {drawer, showEntry} from "/console/detail.js";
import {h, icon, toast} from "/console/dom.js";
import {executions} from "/console/executions.js";
import {loadKinds} from "/console/kinds.js";
import {showHelp} from "/console/keyboard.js";
import {moderation} from "/console/moderation.js";
import {overview} from "/console/overview.js";
import {families, clearPeople, loadPeople} from "/console/people.js";
import {policies} from "/console/policies.js";
import {startPolling, stopPolling} from "/console/poll.js";
import {currentRoute} from "/console/router.js";
import {askOtherTabs} from "/console/session.js";
import {showSignIn, showWaiting} from "/console/signin.js";
import {toggleTheme} from "/console/theme.js";
import {isUTC, toggleZone, zoneName, zoneTitle} from "/console/time.js";
import {onTrust, startTrust, stopTrust} from "/console/trust.js";

const app = document.getElementById("app");
/** The views by their name in the address; those with `readers` are for these alone. A `member` is a participant or a child, who
    sees what is their own. `#/trail` is the audit log: bookmarks keep that name. */
const views = new Map([
    ["overview", {title: "Overview", show: overview}], ["trail", {title: "Audit log", show: auditLog}],
    ["decisions", {title: "AI decisions", show: decisions}], ["consents", {title: "Consents", show: consents}],
    ["policies", {title: "Policies", show: policies, readers: ["guardian"]}], ["constraints", {title: "Constraints", show: constraints, readers: ["guardian", "member"]}],
    ["executions", {title: "Questions", show: executions, readers: ["guardian", "member"]}], ["drafts", {title: "Drafts", show: drafts, readers: ["guardian", "member"]}],
    ["ai", {title: "Settings", show: aiSettings, readers: ["guardian", "member"]}],
    ["deliveries", {title: "Deliveries", show: deliveries, readers: ["admin"]}], ["moderation", {title: "Moderation", show: moderation, readers: ["admin"]}],
]);
const isReadable = (view) => (view.readers ?? ["guardian", "admin"]).includes(state.status.reader);
const firstView = () => (state.status.reader === "member" ? "executions" : "overview");
/** The state shared by all views: the log's status and the family's name. */
const state = {status: null, statusAt: 0, familyName: ""};
/** The current view: its `show` function, the object that it returned, and the filters it was last updated with. */
let shown = null;
let stopPill = () => {};

// MARK: session

async function start() {
    stop();
    const membership = ownMembership();
    if (membership) return startMember(membership);
    const status = await get("/audit/status");
    clearPeople();
    const [own] = await Promise.all([families("", ""), loadKinds(), loadPeople(status.family_id)]);
    state.familyName = status.family_id ? own.items[0]?.name : "";
    Object.assign(state, {status, statusAt: Date.now()});
    await startTrust(status);
    showShell();
    startPolling();
    route();
    document.getElementById("main")?.focus({preventScroll: true});
}

/** For a participant or a child: their questions, drafts and constraints, and nothing of the audit log. */
function startMember({family_id: family}) {
    clearPeople();
    state.familyName = "";
    Object.assign(state, {status: {reader: "member", family_id: family}, statusAt: Date.now()});
    showShell();
    route();
    document.getElementById("main")?.focus({preventScroll: true});
}

function stop() {
    shown?.view.leave();
    shown = null;
    state.status = null;
    stopPolling();
    stopTrust();
    stopPill();
    showEntry("");
}

async function leave(message) {
    stop();
    await signOut();
    history.replaceState(null, "", "/console");
    showSignIn(message, start);
}

function begin() {
    start().catch((error) => {
        if (!isSignedIn()) showSignIn(error.status === 401 ? "Your session has ended. Sign in again." : error.message, start);
        else if (error.status === 403) leave("This account belongs to no family yet. Create or join one in the app, then sign in here.");
        else showWaiting(error, begin, () => leave());
    });
}

// MARK: the shell

function showShell() {
    const pill = h("a", {class: "pill", href: "#/overview", hidden: state.status.reader === "member"});
    if (!pill.hidden) stopPill = onTrust(({tone, word, line}) => {
        if (pill.dataset.tone === tone && pill.dataset.word === word) return;
        Object.assign(pill.dataset, {tone, word});
        pill.title = line;
        pill.replaceChildren(h("i", {"aria-hidden": "true"}), word);
    });
    const zoneLabel = () => `Times are shown in ${isUTC() ? "UTC" : zoneName()}. Show them in ${isUTC() ? "local time" : "UTC"}.`;
    const zoneButton = h("button", {class: "ghost zone", type: "button", title: zoneLabel(), "aria-label": zoneLabel(), onclick: () => {
        toggleZone();
        zoneButton.replaceChildren(zoneTitle());
        zoneButton.title = zoneLabel();
        zoneButton.setAttribute("aria-label", zoneLabel());
        shown?.view.leave();
        shown = null;
        route();
    }}, zoneTitle());
    const who = state.status.reader === "admin" ? me()?.email || "Administrator" : me()?.display_name?.trim() || me()?.email || "Guardian";
    const link = ([name, view]) => h("a", {href: `#/${name}`, "data-view": name}, icon(name), h("span", {}, view.title));
    app.replaceChildren(
        h("a", {class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); document.getElementById("main").focus(); }}, "Skip to content"),
        h("header", {class: "top"},
            h("a", {class: "brand", href: `#/${firstView()}`, "aria-label": `Nagz, ${views.get(firstView()).title}`}, h("img", {src: "/console/icon.svg", width: "28", height: "28", alt: ""}), h("span", {}, "Nagz")),
            h("nav", {"aria-label": "Views"}, [...views].filter(([, view]) => isReadable(view)).map(link)),
            h("div", {class: "tools"}, h("div", {role: "status"}, pill), zoneButton,
                h("button", {class: "ghost", type: "button", title: "Light or dark", "aria-label": "Light or dark", onclick: toggleTheme}, icon("theme")),
                h("button", {class: "ghost", type: "button", title: "Keyboard", "aria-label": "Keyboard help", onclick: showHelp}, icon("help")),
                h("button", {class: "ghost who", type: "button", title: `Sign out ${who}`, "aria-label": `Sign out ${who}`, onclick: () => leave()}, h("bdi", {}, who), icon("out")))),
        h("main", {id: "main", tabindex: "-1"}), drawer.element);
    app.removeAttribute("aria-busy");
}

function route() {
    if (!isSignedIn() || !state.status) return;
    const {view: name, params, open} = currentRoute();
    const named = views.get(name);
    const view = named && isReadable(named) ? named : views.get(firstView());
    const narrowedTo = params.toString();
    if (shown?.show !== view.show) {
        if (shown) beginView();
        shown?.view.leave();
        const main = document.getElementById("main");
        main.replaceChildren();
        for (const link of document.querySelectorAll("nav a")) {
            if (views.get(link.dataset.view) === view) link.setAttribute("aria-current", "page");
            else link.removeAttribute("aria-current");
        }
        document.title = `${view.title} · Nagz console`;
        shown = {show: view.show, view: view.show(main, state), narrowedTo: null};
    }
    if (shown.narrowedTo !== narrowedTo) {
        shown.narrowedTo = narrowedTo;
        shown.view.update(params);
    }
    showEntry(open);
}

addEventListener("hashchange", route);
addEventListener("unhandledrejection", (event) => {
    if (event.reason?.name !== "AbortError") toast(event.reason?.message || "Something went wrong. Load the page again.", "bad");
});
onSessionEnd(() => {
    stop();
    showSignIn("Your session has ended. Sign in again.", start);
});

if (isSignedIn()) {
    begin();
} else {
    showSignIn("", start);
    askOtherTabs().then((found) => { if (found) begin(); });
}
