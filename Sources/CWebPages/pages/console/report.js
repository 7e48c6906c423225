// One abuse report in the drawer: all of it, the form of its review, and what the audit log says of the reviews before.
import {entries, write} from "/console/api.js";
import {copyable, failure, h, nothing, skeleton, toast} from "/console/dom.js";
import {choose, draft, field, form} from "/console/form.js";
import {latest} from "/console/latest.js";
import {family, nobody, person} from "/console/people.js";
import {address, openEntry} from "/console/router.js";
import {time} from "/console/time.js";

/** What a review may become; the server decides. */
const next = {open: ["open", "investigating"], investigating: ["investigating", "resolved", "dismissed"]};
const severities = ["critical", "standard", "low"];

/** {content, stop}: the content of the drawer, and what ends its requests. `saved(answer)` gets the changed report, `again()` loads it. */
export function reportContent(one, {badge, severity, due, saved, again}) {
    const row = (name, ...value) => [h("dt", {}, name), h("dd", {}, ...value)];
    const somebody = (id) => [copyable(id), " ", h("a", {href: address("trail", {person_id: id})}, "Audit log")];
    const history = h("ol", {class: "history"}, skeleton(2));
    return {
        content: [
            h("p", {class: "reason"}, h("bdi", {}, one.reason)),
            h("dl", {class: "fields"}, row("Status", badge(one.status)), row("Severity", severity(one)), row("Due", due(one), " ", time(one.review_due_at)), row("Updated", time(one.updated_at)),
                row("About", ...somebody(one.target_id)), row("Reported by", ...somebody(one.reporter_id)),
                row("Family", one.family_id ? h("a", {href: address("trail", {family_id: one.family_id})}, family(one.family_id)) : "none in common"), row("Report", copyable(one.id))),
            h("h3", {}, "Review"), next[one.status] ? reviewForm(one, saved, again) : ended(one),
            h("h3", {}, "Reviews so far"), history,
        ],
        stop: showHistory(history, one),
    };
}

function reviewForm(one, saved, again) {
    const status = field("status", "Status", choose("status", next[one.status], one.status));
    const severity = field("severity", "Severity", choose("severity", severities, one.severity), "The review target is 4 hours for critical, 24 for standard and 72 for low ones.");
    const note = field("note", "Note", h("textarea", {name: "note", rows: "4", dir: "auto"}), "The reason for the change. The audit log has it.");
    return form({key: `report ${one.id}`, fields: [status, severity, note], button: "Save the review", saved, again, save: async () => {
        const text = note.read().trim();
        if (status.read() === one.status && severity.read() === one.severity && !text) return null;
        const answer = await write("PATCH", `/admin/abuse-reports/${one.id}`, {status: status.read(), severity: severity.read(), ...text && {note: text}});
        toast(`The report is ${answer.status}, its severity ${answer.severity}`, "good");
        return answer;
    }});
}

function ended(one) {
    const unsaved = draft(`report ${one.id}`)?.note;
    return h("div", {}, h("p", {class: "muted"}, "The review has ended."), unsaved && [h("p", {}, "This note was not saved:"), h("p", {class: "reason"}, h("bdi", {}, unsaved))]);
}

/** The report's entries, newest first. Each look is an entry itself. */
function showHistory(list, one) {
    const place = latest();
    const load = () => place.run((signal) => entries({family_id: nobody, resource_id: one.id, limit: 50}, signal), (page) => {
        const shown = page.items.filter((entry) => entry.kind.startsWith("abuse_report."));
        list.replaceChildren(...shown.map(line));
        if (!shown.length) list.replaceChildren(h("li", {}, nothing("The audit log has nothing about it yet.")));
    }, (error) => list.replaceChildren(h("li", {}, failure(error, load))));
    load();
    return place.stop;
}

function line(entry) {
    const {from, status, severity, note} = entry.details || {};
    const text = entry.kind === "abuse_report.created" ? "reported" : [from !== status && [from, " → "], status, ", ", severity];
    return h("li", {}, h("button", {type: "button", onclick: () => openEntry(entry.family_id, entry.n)}, h("b", {}, text), " by ", person(entry.actor), time(entry.at)),
        note && h("p", {class: "reason"}, h("bdi", {}, note)));
}
