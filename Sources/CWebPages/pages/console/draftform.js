// The form that changes what a draft does.
import {write} from "/console/api.js";
import {word} from "/console/cards.js";
import {h} from "/console/dom.js";
import {checkboxes, choose, field, form} from "/console/form.js";
import {fieldsOf, textOf} from "/console/time.js";

const categories = ["chores", "meds", "homework", "appointments", "other"];
const outcomes = ["ack_only", "binary_check", "binary_with_note"];

/** A field for a moment in the displayed zone. */
function momentField(value) {
    const {date, time} = fieldsOf(value);
    const moment = field("body.due_at", "Due", h("input", {type: "datetime-local", value: `${date}T${time}`}));
    return {...moment, read: () => moment.read(), value: () => textOf(...moment.read().split("T"))};
}

/** The fields of a draft's kind; `value()` is the member of the body. */
function fieldsFor({kind, body}, members, rules) {
    const plain = (one) => ({...one, value: one.read});
    const due = () => momentField(body.due_at);
    switch (kind) {
    case "suggested_nag": return [
        plain(field("body.recipient_id", "For", choose("recipient", members.map(([id]) => id), body.recipient_id, (id) => members.find(([one]) => one === id)?.[1] ?? id))),
        plain(field("body.category", "Category", choose("category", categories, body.category))),
        plain(field("body.description", "What is to be done", h("textarea", {rows: 2, maxlength: 2000, value: body.description ?? ""}))),
        due(), plain(field("body.done_definition", "Counts as done", choose("done", outcomes, body.done_definition)))];
    case "due_change": return [due()];
    case "push_back": return [plain(field("body.message", "Message", h("textarea", {rows: 2, maxlength: 280, value: body.message})))];
    case "digest": {
        const guardians = checkboxes("body.recipient_ids", "For", members.map(([value, title]) => ({value, title})));
        guardians.write(body.recipient_ids);
        return [plain(field("body.message", "Message", h("textarea", {rows: 4, maxlength: 1000, value: body.message}))), plain(guardians)];
    }
    default: {
        const active = rules.filter((one) => one.status === "active");
        const title = (id) => { const rule = active.find((one) => one.id === id); return rule ? `${word(rule.action.type)} ${rule.action.amount}` : id; };
        const ids = [...new Set([body.rule_id, ...active.map((one) => one.id)])];
        return [plain(field("body.rule_id", "Rule", choose("rule", ids, body.rule_id, title)))];
    }
    }
}

/** A value to compare: of a list its members, in any order. */
const same = (value) => (Array.isArray(value) ? [...value].sort().join() : value);

/** What the form sends: only members that have changed. */
function changes(draft, fields, rules) {
    const body = {};
    for (const one of fields) {
        const [name, value] = [one.name.split(".")[1], one.value()];
        const before = name === "due_at" ? textOf(...Object.values(fieldsOf(draft.body.due_at))) : draft.body[name] ?? "";
        if (same(value) !== same(before)) body[name] = value;
    }
    const rule = body.rule_id && rules.find((one) => one.id === body.rule_id);
    if (rule) Object.assign(body, {action_type: rule.action.type, amount: rule.action.amount});
    return Object.keys(body).length ? body : null;
}

export function draftForm({draft, members, rules, saved, again, close}) {
    const fields = fieldsFor(draft, members, rules);
    const element = form({
        key: `draft ${draft.id}`, fields, button: "Save", saved, again,
        save: async () => {
            const body = changes(draft, fields, rules);
            return body && write("PATCH", `/ai/drafts/${draft.id}`, {body}, draft.etag);
        },
    });
    element.querySelector(".actions").append(h("button", {type: "button", onclick: close}, "Close"));
    return element;
}
