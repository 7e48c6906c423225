// The shell: signing in, navigation, keyboard, theme, zone.
import {get, isSignedIn, me, onSessionEnd, signIn, signOut} from "/console/api.js";
import {consents} from "/console/consents.js";
import {decisions} from "/console/decisions.js";
import {familyNames, h, icon, isUTC, names, toast, toggleZone, zoneName} from "/console/dom.js";
import {overview} from "/console/overview.js";
import {pin} from "/console/proof.js";
import {trail} from "/console/trail.js";

const app = document.getElementById("app");
const views = {
    overview: {title: "Overview", show: overview}, trail: {title: "Trail", show: trail},
    decisions: {title: "AI decisions", show: decisions}, consents: {title: "Consents", show: consents},
};
/** What every view works with: who is reading, of which log, and the families there are. */
const state = {status: null, families: []};
let leave = null;

// MARK: theme

function applyTheme(theme) {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
}
applyTheme(localStorage.getItem("nagz.theme"));

function toggleTheme() {
    const isDark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    localStorage.setItem("nagz.theme", isDark ? "light" : "dark");
    applyTheme(localStorage.getItem("nagz.theme"));
}

// MARK: signing in

function showSignIn(message) {
    leave?.();
    leave = null;
    const problem = h("p", {class: "problem", role: "alert", hidden: !message}, message || "");
    const button = h("button", {class: "primary", type: "submit"}, "Sign in");
    const email = h("input", {id: "email", type: "email", autocomplete: "username", required: true, autofocus: true});
    const password = h("input", {id: "password", type: "password", autocomplete: "current-password", required: true});
    const form = h("form", {class: "card signin", onsubmit: async (event) => {
        event.preventDefault();
        button.disabled = true;
        problem.hidden = true;
        try {
            await signIn(email.value, password.value);
            await start();
        } catch (error) {
            problem.textContent = error.status === 403 ? "This account may read no audit trail. Guardians and administrators may." : error.message;
            problem.hidden = false;
            password.select();
        } finally {
            button.disabled = false;
        }
    }},
        h("img", {src: "/console/icon.svg", width: "48", height: "48", alt: ""}),
        h("h1", {}, "Nagz console"), h("p", {class: "muted"}, "Who did what, and the proof that nobody changed it."),
        h("label", {for: "email"}, "Email"), email, h("label", {for: "password"}, "Password"), password, problem, button,
        h("p", {class: "fine"}, "Guardians see their own family. Administrators see all of it, and each of their looks is an entry itself."));
    app.replaceChildren(h("main", {class: "signinpage"}, form));
    app.removeAttribute("aria-busy");
    document.title = "Sign in · Nagz console";
    email.focus();
}

async function start() {
    state.status = await get("/audit/status");
    pin(state.status.origin, state.status.keys);
    names.clear();
    state.families = (await get("/audit/families")).items;
    for (const family of state.families) if (family.name) familyNames.set(family.family_id, family.name);
    if (state.status.family_id) {
        const members = await get(`/families/${state.status.family_id}/members`);
        for (const member of members.items || members) names.set(member.user_id, member.display_name || "Somebody");
    }
    showShell();
}

// MARK: the shell

const pill = h("a", {class: "pill", href: "#/overview", "data-state": "off"});

function showState(word) {
    const words = {current: "Trail sealed", late: "Trail is late", broken: "Trail is broken", off: "No log kept", gone: "Server unreachable"};
    pill.dataset.state = word;
    pill.replaceChildren(h("i", {"aria-hidden": "true"}), words[word] || word);
}

async function watchState() {
    if (!isSignedIn()) return;
    if (!document.hidden) {
        try {
            const response = await fetch("/health/ready", {cache: "no-store"});
            showState((await response.json()).audit_log || "gone");
        } catch {
            showState("gone");
        }
    }
    setTimeout(watchState, 10_000);
}

function showShell() {
    const zoneButton = h("button", {class: "ghost zone", type: "button", title: "Show times in another zone", onclick: () => {
        toggleZone();
        zoneButton.replaceChildren(zoneText());
        route();
    }}, zoneText());
    const link = ([name, view]) => h("a", {href: `#/${name}`, "data-view": name}, icon(name), h("span", {}, view.title));
    app.replaceChildren(
        h("a", {class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); document.getElementById("main").focus(); }}, "Skip to content"),
        h("header", {class: "top"},
            h("a", {class: "brand", href: "#/overview"}, h("img", {src: "/console/icon.svg", width: "28", height: "28", alt: ""}), h("span", {}, "Nagz")),
            h("nav", {"aria-label": "Views"}, Object.entries(views).map(link)),
            h("div", {class: "tools"}, pill, zoneButton,
                h("button", {class: "ghost", type: "button", title: "Light or dark", "aria-label": "Light or dark", onclick: toggleTheme}, icon("theme")),
                h("button", {class: "ghost", type: "button", title: "Keyboard", "aria-label": "Keyboard help", onclick: showHelp}, icon("help")),
                h("button", {class: "ghost who", type: "button", title: "Sign out", onclick: async () => {
                    await signOut();
                    state.status = null;
                    history.replaceState(null, "", "/console");
                    showSignIn();
                }},
                    h("span", {}, state.status.reader === "admin" ? "Administrator" : me()?.display_name || "Guardian"), icon("out")))),
        h("main", {id: "main", tabindex: "-1"}));
    app.removeAttribute("aria-busy");
    showState(state.status.state);
    setTimeout(watchState, 10_000);
    route();
}

function zoneText() {
    return isUTC() ? "UTC" : zoneName().split("/").pop().replaceAll("_", " ");
}

function route() {
    if (!isSignedIn() || !state.status) return;
    const [name, query] = (location.hash.slice(2) || "overview").split("?");
    const view = views[name] || views.overview;
    leave?.();
    document.querySelectorAll("nav a").forEach((link) => {
        if (link.dataset.view === (views[name] ? name : "overview")) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    });
    document.title = `${view.title} · Nagz console`;
    const main = document.getElementById("main");
    main.replaceChildren();
    leave = view.show(main, state, new URLSearchParams(query || "")) || null;
}

function showHelp() {
    const keys = [["/", "search"], ["j / k", "next, previous entry"], ["Enter", "open the entry"], ["t", "follow its trace"], ["Esc", "close"], ["g o, g t, g a, g c", "overview, trail, AI decisions, consents"], ["?", "this"]];
    const dialog = h("dialog", {class: "help", "aria-labelledby": "helptitle"}, h("h2", {id: "helptitle"}, "Keyboard"),
        h("dl", {}, keys.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
        h("form", {method: "dialog"}, h("button", {class: "primary"}, "Close")));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
}

let prefix = false;
addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, textarea, dialog") || event.ctrlKey || event.metaKey || event.altKey || !isSignedIn()) return;
    const goal = prefix && {o: "overview", t: "trail", a: "decisions", c: "consents"}[event.key];
    prefix = event.key === "g";
    if (goal) {
        event.preventDefault();
        event.stopImmediatePropagation();
        location.hash = `#/${goal}`;
    } else if (event.key === "?") showHelp();
    else if (event.key === "/" && document.getElementById("q")) {
        event.preventDefault();
        document.getElementById("q").focus();
    }
});
addEventListener("hashchange", route);
onSessionEnd(() => showSignIn("Your session has ended. Sign in again."));

if (isSignedIn()) start().catch((error) => showSignIn(error.status === 401 ? "" : error.message));
else showSignIn();
addEventListener("unhandledrejection", (event) => toast(event.reason?.message || "Something went wrong", "bad"));
