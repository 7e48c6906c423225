// The limits of a policy in words, and the form that proposes others. Bounds are shown beside the fields, and told while one types.
import {APIError, write} from "/console/api.js";
import {h, number, toast} from "/console/dom.js";
import {checkboxes, choose, field, form, numberFrom} from "/console/form.js";

const count = (value, one) => `${value} ${one}${value === 1 ? "" : "s"}`;
/** Name of a limit in the API: its label, what a value means, its bounds, and its value where nothing is set. */
const limits = new Map(Object.entries({
    daily_nag_cap: {label: "Nags a day", says: (value) => `A member sends at most ${count(value, "nag")} on one day.`, from: 1, to: 8, usual: 8},
    max_snooze_minutes: {label: "Longest snooze, minutes", says: (value) => `A snooze moves the due time by at most ${count(value, "minute")}.`, from: 5, to: 120, usual: 30},
    points_multiplier: {label: "Factor for points", says: (value) => `Points are multiplied by ${number(value)}.`, from: 0.1, to: 3, usual: 1},
    max_pushback: {label: "Push-backs", says: (value) => `A nag has at most ${count(value, "push-back")} until it is due again.`, from: 0, to: 3, usual: 2},
    pushback_cooldown_minutes: {label: "Between push-backs, minutes", says: (value) => `Between two push-backs are at least ${count(value, "minute")}.`, from: 15, to: 240, usual: 60},
    third_party_models: {label: "AI models of other companies", says: (value) => value ? "Adults may send questions to AI models of other companies, with their own keys." : "No question goes to an AI model of another company."},
}));

/** What is wrong with a typed value, in words; empty for nothing. Factors may have decimals, everything else is counted. */
function complaint(name, text) {
    const {from, to} = limits.get(name);
    if (from === undefined || text === "") return "";
    const value = Number(text.replace(",", "."));
    if (Number.isNaN(value) || name !== "points_multiplier" && !Number.isInteger(value)) return `Enter a ${name === "points_multiplier" ? "number" : "whole number"} from ${number(from)} to ${to}.`;
    return value < from ? `The least is ${number(from)}.` : value > to ? `The most is ${to}.` : "";
}

/** A constraint in words; clients store others than the limits, which the server does not obey. */
export const sentence = (name, value) => limits.get(name)?.says(value) ?? h("span", {}, limitName(name), ": ", h("bdi", {}, String(value)));

export const limitName = (name) => h("bdi", {}, limits.get(name)?.label ?? name);

const scalarFrom = (text) => (["true", "false"].includes(text) ? text === "true" : numberFrom(text.replace(",", ".")));

/** The form; `saved(answer)` gets the policy in force with the proposal, `again()` loads it. */
export function proposalForm(policy, members, nameOf, saved, again) {
    const fields = [...limits].map(([name, {label, from, to, usual}]) => {
        const control = from === undefined ? choose(name, ["false", "true"], "false", (value) => (value === "true" ? "Allowed" : "Not allowed"))
            : h("input", {type: "text", inputmode: "decimal", name, autocomplete: "off", oninput: () => one.tell(complaint(name, control.value.trim()))});
        const one = field(`constraints.${name}`, label, control, from === undefined ? "With a person's own key, and adults only." : `From ${number(from)} to ${to}. Left empty: ${usual}.`);
        one.write(String(policy.constraints[name] ?? ""));
        return {...one, limit: name};
    });
    const guardians = members.filter((one) => one.role === "guardian").map((one) => one.user_id);
    const owners = checkboxes("owners", "Owners", [...new Set([...policy.owners, ...guardians])].map((id) => ({value: id, title: nameOf(id)})), "One or two guardians.");
    owners.write(policy.owners);
    const note = policy.owners.length === 1 ? "You are the only owner, so the change is in force at once." : "The change is in force when every owner has approved it. A new proposal replaces the one before.";

    async function save() {
        const wrong = fields.find((one) => complaint(one.limit, one.read().trim()));
        if (wrong) throw new APIError(422, complaint(wrong.limit, wrong.read().trim()), {field: wrong.name});
        const constraints = Object.fromEntries(fields.filter((one) => one.read().trim() !== String(policy.constraints[one.limit] ?? "")).map((one) => [one.limit, scalarFrom(one.read().trim())]));
        const chosen = owners.read();
        const body = {...Object.keys(constraints).length && {constraints}, ...[...chosen].sort().join() !== [...policy.owners].sort().join() && {owners: chosen}};
        if (!Object.keys(body).length) return null;
        const answer = await write("PATCH", `/policies/${policy.id}`, body, policy.etag);
        toast(answer.version === policy.version ? "Proposed" : "In force", "good");
        return answer;
    }
    return h("div", {}, h("p", {class: "muted"}, note),
        form({key: `policy ${policy.id}`, fields: [...fields, owners], button: policy.owners.length === 1 ? "Change" : "Propose", save, saved, again}));
}
