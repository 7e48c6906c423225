// One entry, opened beside the list: what it says, and its proof, checked here.
import {get} from "/console/api.js";
import {copyable, familyName, h, icon, kindBadge, person, skeleton, time} from "/console/dom.js";
import {check} from "/console/proof.js";

const labels = {
    on_behalf_of: "on behalf of", used_fallback: "fallback used", fallback_reason: "fallback because", fallback_confirmed: "fallback confirmed",
    latency_us: "latency", content_length: "length of the text", content_sha256: "digest of the text", miss_count_7d: "misses in 7 days",
    time_conflict_count_7d: "time conflicts in 7 days", push_backs: "push-backs so far",
};

function shown(name, value) {
    if (name === "latency_us") return `${(Number(value) / 1000).toFixed(1)} ms`;
    return /^[0-9a-f-]{36}$|^[0-9a-f]{64}$/.test(value) ? copyable(value) : value;
}

/** Shows the entry in the drawer and checks it. Returns nothing; `onClose` is called when it is closed. */
export async function openDetail(drawer, state, family, n, onClose) {
    const close = () => {
        drawer.hidden = true;
        drawer.replaceChildren();
        onClose?.();
    };
    const head = (title) => h("header", {class: "drawerhead"}, h("div", {}, h("span", {class: "muted"}, `${familyName(family)} · entry ${n}`), title),
        h("button", {class: "ghost", type: "button", "aria-label": "Close", onclick: close}, icon("cross")));
    drawer.hidden = false;
    drawer.onkeydown = (event) => {
        if (event.key === "Escape") {
            event.stopPropagation();
            close();
        }
    };
    drawer.replaceChildren(head(h("h2", {}, "…")), h("div", {class: "drawerbody"}, skeleton(6)));
    let detail;
    try {
        detail = await get(`/audit/events/${family}/${n}`);
    } catch (error) {
        drawer.replaceChildren(head(h("h2", {}, "Not here")), h("div", {class: "drawerbody"}, h("p", {role: "alert"}, error.message)));
        return;
    }
    const {entry} = detail;
    const verdict = h("div", {class: "verdict", role: "status", "aria-live": "polite", id: "verdict"}, icon("wait"), h("div", {}, "Checking in this browser …"));
    const steps = h("ol", {class: "steps"});
    const row = (name, ...value) => [h("dt", {}, name), h("dd", {}, ...value)];
    const details = Object.entries(entry.details || {});
    const filter = (name, value, text) => h("a", {class: "button small", href: `#/trail?${name}=${value}`}, icon("link"), text);
    drawer.replaceChildren(head(h("h2", {}, kindBadge(entry.kind))), h("div", {class: "drawerbody"},
        verdict,
        h("dl", {class: "fields"}, row("When", time(entry.at)), row("Who", person(entry.actor, entry.actor_id)), entry.subject && row("To whom", person(entry.subject, entry.subject_id)),
            entry.resource_id && row("Thing", copyable(entry.resource_id)), row("Trace", copyable(entry.trace_id)), row("Request", copyable(entry.request_id))),
        h("div", {class: "actions"}, filter("trace_id", entry.trace_id, "Follow the trace"), entry.resource_id && filter("resource_id", entry.resource_id, "Everything about this"),
            entry.actor_id && filter("actor_id", entry.actor_id, "All by this person")),
        h("h3", {}, "What it says"),
        details.length ? h("dl", {class: "fields body"}, details.map(([name, value]) => row(labels[name] || name.replaceAll("_", " "), shown(name, value))))
            : h("p", {class: "muted"}, detail.payload === "erased" ? "Erased." : "Nothing more."),
        h("h3", {}, "Chain"),
        h("div", {class: "chain", "aria-label": "Place in the chain"},
            entry.n > 1 && h("button", {type: "button", class: "linkbox", onclick: () => openDetail(drawer, state, family, entry.n - 1, onClose)}, h("b", {}, entry.n - 1), h("code", {}, entry.prev.slice(0, 10))),
            h("div", {class: "linkbox here"}, h("b", {}, entry.n), h("code", {}, entry.hash.slice(0, 10))),
            h("button", {type: "button", class: "linkbox", onclick: () => openDetail(drawer, state, family, entry.n + 1, onClose)}, h("b", {}, entry.n + 1), h("code", {}, "next"))),
        h("h3", {}, "Proof, step by step"), steps));
    drawer.querySelector("button").focus();
    const before = entry.n > 1 ? await get("/audit/events/" + family + "/" + (entry.n - 1)).then((answer) => answer.entry, () => null) : null;
    let found;
    try {
        found = await check(detail, before, entry.details, state.status);
    } catch (error) {
        found = [{title: "The check could not be carried out", state: "bad", note: error.message}];
    }
    if (!verdict.isConnected) return;
    const bad = found.filter((step) => step.state === "bad");
    const open = found.some((step) => step.state === "open" && step.title.includes("signed log"));
    verdict.className = `verdict ${bad.length ? "bad" : open ? "open" : "good"}`;
    verdict.replaceChildren(icon(bad.length ? "cross" : open ? "wait" : "check"), h("div", {}, h("strong", {}, bad.length ? "Tampered with" : open ? "Sound so far, not sealed yet" : "Verified in this browser"),
        h("p", {}, bad.length ? bad.map((step) => `Not so: “${step.title}”.`).join(" ") : open ? "The next checkpoint will cover it." : "Nothing here was changed since it was written.")));
    steps.replaceChildren(...found.map((step) => h("li", {class: step.state}, icon(step.state === "good" ? "check" : step.state === "bad" ? "cross" : "wait"),
        h("div", {}, h("span", {}, step.title, h("span", {class: "sr"}, `: ${step.state === "good" ? "yes" : step.state === "bad" ? "NO" : "open"}`)), h("small", {}, step.note)))));
}
