// The details of one entry beside the list, with its proof, which is verified in the browser.
import {get} from "/console/api.js";
import {copyable, h, icon, skeleton, tenths} from "/console/dom.js";
import {makeDrawer} from "/console/drawer.js";
import {kindBadge} from "/console/kinds.js";
import {latest} from "/console/latest.js";
import {family as familyLabel, familyName, person} from "/console/people.js";
import {check} from "/console/proof.js";
import {address, closeEntry, openEntry} from "/console/router.js";
import {time} from "/console/time.js";
import {allFindings, kept, log, reportFinding, updateKeptFindings} from "/console/trust.js";

const labels = {
    on_behalf_of: "on behalf of", used_fallback: "fallback used", fallback_reason: "fallback because", fallback_confirmed: "fallback confirmed",
    rule_id: "router's rule", claimed_rule_id: "rule that the client claims", task_type: "asked for", asked_model: "model that was asked", asked_provider: "whose it is", asked_reach: "how far the question went",
    question_hash: "keyed digest of the question", question_length: "length of the question", body_hash: "keyed digest of the body", written_by: "written by",
    latency_us: "latency", content_length: "length of the text", content_sha256: "digest of the text", content_hash: "keyed digest of the text", miss_count_7d: "misses in 7 days",
    time_conflict_count_7d: "time conflicts in 7 days", push_backs: "push-backs so far",
};
const words = {
    good: ["check", "Verified in this browser", "Nothing here was changed since it was written."],
    open: ["wait", "Sound so far, not sealed yet", "The next checkpoint will cover it."],
    unknown: ["unknown", "Cannot be checked here", ""],
    bad: ["cross", "Tampered with", ""],
};
const stepIcons = {good: "check", bad: "cross", open: "wait", unknown: "unknown"};
const stepWords = {good: "yes", bad: "NO", open: "open", unknown: "cannot be checked here"};

export const drawer = makeDrawer(closeEntry);
const place = latest();

/** Shows the entry that the address names; hides the drawer for none; reports an invalid address. */
export function showEntry(open) {
    place.stop();
    if (open === "") return drawer.close();
    if (open === null) return drawer.show(h("h2", {}, "No entry"), h("p", {role: "alert"}, "This is not the address of an entry. Open one from the audit log."));
    const {family, n} = open;
    const title = (heading) => h("div", {}, h("span", {class: "muted"}, familyLabel(family), ` · entry ${n}`), heading);
    drawer.show(title(h("h2", {}, "…")), skeleton(6));
    const verdict = h("div", {class: "verdict", role: "status", "aria-live": "polite", id: "verdict"}, icon("wait"), h("div", {}, "Checking in this browser …"));
    const steps = h("ol", {class: "steps"});
    place.run(async (signal) => {
        const detail = await get(`/audit/events/${family}/${n}`, {}, signal);
        if (signal.aborted) return null;
        drawer.show(title(h("h2", {}, kindBadge(detail.entry.kind))), content(detail, family, n, verdict, steps));
        const before = n > 1 ? await get(`/audit/events/${family}/${n - 1}`, {}, signal).then((answer) => answer.entry, () => null) : null;
        const found = await check(detail, before, detail.entry.details, log);
        if (detail.entry.family_id !== family || detail.entry.n !== n) found.unshift({title: "It is the entry that was asked for", state: "bad", note: `${detail.entry.family_id} ${detail.entry.n}`});
        return found;
    }, (found) => show(found, verdict, steps, family, n), (error) => {
        drawer.show(title(h("h2", {}, "No entry")), h("p", {role: "alert"}, error.message), h("button", {type: "button", onclick: () => showEntry(open)}, "Try again"));
    });
}

function content(detail, family, n, verdict, steps) {
    const {entry} = detail;
    const row = (name, ...value) => [h("dt", {}, name), h("dd", {}, ...value)];
    const details = Object.entries(entry.details || {});
    const filter = (name, value, text) => h("a", {class: "button small", href: address("trail", {[name]: value})}, icon("link"), text);
    const neighbour = (number, note, name) => h("button", {type: "button", class: "linkbox", "aria-label": `${name} entry, ${number}`, onclick: () => openEntry(family, number)}, h("b", {}, number), h("code", {}, note));
    return [
        verdict,
        h("dl", {class: "fields"}, row("When", time(entry.at)), row("Who", person(entry.actor), copyable(entry.actor)), entry.subject && row("To whom", person(entry.subject), copyable(entry.subject)),
            entry.resource_id && row("Thing", copyable(entry.resource_id)), row("Trace", copyable(entry.trace_id)), row("Request", copyable(entry.request_id))),
        h("div", {class: "actions"}, filter("trace_id", entry.trace_id, "Follow the trace"), entry.resource_id && filter("resource_id", entry.resource_id, "Everything about this"),
            filter("person_id", entry.actor, "All of this person")),
        h("h3", {}, "What it says"),
        details.length ? h("dl", {class: "fields body"}, details.map(([name, value]) => row(Object.hasOwn(labels, name) ? labels[name] : h("bdi", {}, name.replaceAll("_", " ")), shown(name, value))))
            : h("p", {class: "muted"}, detail.payload === "erased" ? "Erased." : "This entry has no details."),
        h("h3", {}, "Chain"),
        h("div", {class: "chain", role: "group", "aria-label": "Place in the chain"},
            n > 1 && neighbour(n - 1, entry.prev.slice(0, 10), "Previous"),
            h("div", {class: "linkbox here"}, h("b", {}, n), h("code", {}, entry.hash.slice(0, 10))),
            neighbour(n + 1, "next", "Next")),
        h("h3", {}, "Proof, step by step"), steps,
        h("p", {class: "fine"}, "Names are what the server calls people today. The entry itself holds the ids beside them."),
    ];
}

function shown(name, value) {
    if (name === "latency_us") return `${tenths(Number(value) / 1000)} ms`;
    return /^[0-9a-f-]{36}$|^[0-9a-f]{64}$/.test(value) ? copyable(value) : h("bdi", {}, value);
}

function show(found, verdict, steps, family, n) {
    if (!found) return;
    const bad = found.filter((step) => step.state === "bad");
    const unknown = found.filter((step) => step.state === "unknown");
    const state = bad.length ? "bad" : unknown.length ? "unknown" : found.some((step) => step.isSeal) ? "open" : "good";
    const [sign, title, line] = words[state];
    const reason = bad.length ? bad.map((step) => `Not so: “${step.title}”.`).join(" ") : unknown.length ? unknown[0].note : line;
    verdict.className = `verdict ${state}`;
    verdict.replaceChildren(icon(sign), h("div", {}, h("strong", {}, title), h("p", {}, reason)));
    steps.replaceChildren(...found.map((step) => h("li", {class: step.state}, icon(stepIcons[step.state]),
        h("div", {}, h("span", {}, step.title, h("span", {class: "sr"}, `: ${stepWords[step.state]}`)), h("small", {}, step.note)))));
    if (bad.length) {
        const id = `entry ${family} ${n}`;
        // The server keeps what it finds itself, for everybody, until an administrator acknowledges it.
        if (!allFindings().some((one) => one.id === id)) get("/audit/verify", {family_id: family}).then((answer) => { if (answer.verdict === "tampered") updateKeptFindings(Math.max(kept(), 1)); }, () => {});
        reportFinding({id, word: "Tampering found", title: "Tampering was found", text: `Entry ${n} of ${familyName(family)}: ${reason}`,
            href: address("trail", {family_id: family, open: `${family}/${n}`})});
    }
}
