// The limits of a policy in words, and the form that proposes others. The server names their bounds when it refuses one.
import {write} from "/console/api.js";
import {h, toast} from "/console/dom.js";
import {checkboxes, choose, field, form, numberFrom} from "/console/form.js";

const count = (value, one) => `${value} ${one}${value === 1 ? "" : "s"}`;
/** Name of a limit in the API: its label, and what a value means. */
const limits = new Map(Object.entries({
    daily_nag_cap: ["Nags a day", (value) => `A member sends at most ${count(value, "nag")} on one day.`],
    max_snooze_minutes: ["Longest snooze, minutes", (value) => `A snooze moves the due time by at most ${count(value, "minute")}.`],
    points_multiplier: ["Factor for points", (value) => `Points are multiplied by ${value}.`],
    max_pushback: ["Push-backs", (value) => `A nag has at most ${count(value, "push-back")} until it is due again.`],
    pushback_cooldown_minutes: ["Between push-backs, minutes", (value) => `Between two push-backs are at least ${count(value, "minute")}.`],
    third_party_models: ["AI models of third parties", (value) => value ? "Adults may send questions to AI models of third parties, with their own keys." : "No question goes to an AI model of a third party."],
}));

/** A constraint in words; clients store others than the limits, which the server does not obey. */
export const sentence = (name, value) => limits.get(name)?.[1](value) ?? h("span", {}, limitName(name), ": ", h("bdi", {}, String(value)));

export const limitName = (name) => h("bdi", {}, limits.get(name)?.[0] ?? name);

const scalarFrom = (text) => (["true", "false"].includes(text) ? text === "true" : numberFrom(text));

/** The form; `saved(answer)` gets the policy in force with the proposal, `again()` loads it. */
export function proposalForm(policy, members, nameOf, saved, again) {
    const fields = [...limits].map(([name, [label]]) => {
        const one = field(`constraints.${name}`, label, name === "third_party_models" ? choose(name, ["false", "true"], "false", (value) => (value === "true" ? "Allowed" : "Not allowed")) : h("input", {type: "text", inputmode: "decimal", name, autocomplete: "off"}), name);
        one.write(String(policy.constraints[name] ?? ""));
        return {...one, limit: name};
    });
    const guardians = members.filter((one) => one.role === "guardian").map((one) => one.user_id);
    const owners = checkboxes("owners", "Owners", [...new Set([...policy.owners, ...guardians])].map((id) => ({value: id, title: nameOf(id)})), "One or two guardians.");
    owners.write(policy.owners);
    const note = policy.owners.length === 1 ? "You are the only owner: the change is in force at once." : "The change is in force when every owner has approved it. A new proposal takes the place of the one before.";

    async function save() {
        const constraints = Object.fromEntries(fields.filter((one) => one.read().trim() !== String(policy.constraints[one.limit] ?? "")).map((one) => [one.limit, scalarFrom(one.read().trim())]));
        const chosen = owners.read();
        const body = {...Object.keys(constraints).length && {constraints}, ...[...chosen].sort().join() !== [...policy.owners].sort().join() && {owners: chosen}};
        if (!Object.keys(body).length) return null;
        const answer = await write("PATCH", `/policies/${policy.id}`, body, policy.etag);
        toast(answer.version === policy.version ? "Proposed" : "In force", "good");
        return answer;
    }
    return h("div", {}, h("p", {class: "muted"}, note, " An empty field brings a limit back to its standard."),
        form({key: `policy ${policy.id}`, fields: [...fields, owners], button: policy.owners.length === 1 ? "Change" : "Propose", save, saved, again}));
}
