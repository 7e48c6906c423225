// The form of one constraint.
import {write} from "/console/api.js";
import {actionField, conditionsField} from "/console/constraintfields.js";
import {h, toast} from "/console/dom.js";
import {choose, draft, field, form, numberFrom} from "/console/form.js";

export const scopeNames = {family: "The family", own: "Only me"};
const types = ["privacy", "cost", "performance", "intent"];
const largestPriority = 999;

/** What a constraint says, without its place in a family. */
export const termsOf = ({scope, name, type, enabled, priority, conditions, action}) => ({scope, name, type, enabled, priority, conditions, action});

/**
 * {element, terms(), focus()}: the form, and what it says now, null before anything was typed.
 * - `constraint` is the one to change, null for a new one; `all` are those that exist;
 * - `scopes` are those that the person may write;
 * - `changed()` is called when another value is typed, `saved(answer)` after the change, `again()` to load it again, `close()` to end.
 */
export function constraintForm({family, constraint, all, templates, scopes, changed, saved, again, close}) {
    const last = (scope) => all.filter((one) => one.scope === scope).reduce((most, one) => Math.max(most, one.priority), 0);
    const name = field("name", "Name", h("input", {type: "text", name: "name", autocomplete: "off", dir: "auto"}));
    const type = field("type", "Type", choose("type", types));
    const scope = field("scope", "For", choose("scope", scopes, scopes[0], (one) => scopeNames[one]), "Constraints of the family hold for everybody. Guardians write them.");
    const priority = field("priority", "Priority", h("input", {type: "text", name: "priority", inputmode: "numeric", autocomplete: "off"}), "1 is evaluated first.");
    const [conditions, action] = [conditionsField(), actionField()];
    const fields = [name, type, ...constraint ? [] : [scope], priority, conditions, action];
    if (constraint) for (const one of fields) one.write(one === priority ? String(constraint.priority) : constraint[one.name]);
    else priority.write(String(Math.min(last(scope.read()) + 1, largestPriority)));

    const terms = () => ({
        scope: constraint?.scope ?? scope.read(), name: name.read(), type: type.read(), enabled: constraint?.enabled ?? true,
        priority: numberFrom(priority.read().trim()), conditions: conditions.read(), action: action.read(),
    });
    async function save() {
        const wanted = terms();
        if (!constraint) return told(await write("POST", "/ai/constraints", {family_id: family, ...wanted}));
        // Only what was changed here: another person may have changed the rest.
        const before = termsOf(constraint);
        const body = Object.fromEntries(Object.entries(wanted).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key])));
        return Object.keys(body).length ? told(await write("PATCH", `/ai/constraints/${constraint.id}`, body)) : null;
    }
    const key = `constraint ${constraint?.id ?? "new"}`;
    let isTyped = draft(key) !== undefined;
    const element = form({key, fields, button: constraint ? "Save" : "Create", save, saved, again});
    element.lastElementChild.append(h("button", {type: "button", onclick: close}, "Close"));
    element.addEventListener("input", () => {
        isTyped = true;
        changed();
    });
    scope.element.querySelector("select").addEventListener("change", () => priority.write(String(Math.min(last(scope.read()) + 1, largestPriority))));

    const start = choose("template", ["", ...templates.keys()].map(String), "", (index) => (index === "" ? "nothing" : templates[index].name));
    start.addEventListener("change", () => {
        const template = templates[start.value];
        if (!template) return;
        for (const one of [name, type, conditions, action]) one.write(template[one.name]);
        element.dispatchEvent(new Event("input", {bubbles: true}));
    });
    const title = constraint ? "Change a constraint" : "New constraint";
    return {
        element: h("section", {class: "card", "aria-label": title, "data-part": "form"}, h("h2", {}, title),
            constraint ? h("p", {class: "muted"}, scopeNames[constraint.scope]) : h("div", {class: "changeform"}, field("template", "Start from", start).element), element),
        terms: () => (isTyped ? terms() : null),
        focus: () => element.querySelector("input").focus(),
    };
}

function told(answer) {
    const {reordered} = answer;
    toast(reordered.length ? `Saved. ${reordered.length === 1 ? "Another constraint moves" : `${reordered.length} other constraints move`} down.` : "Saved", "good");
    return answer;
}
