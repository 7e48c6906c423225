// Forms that change something: a refusal is shown at its field, and what was typed is kept until it is saved.
import {me} from "/console/api.js";
import {word} from "/console/cards.js";
import {h, toast} from "/console/dom.js";

/** What was typed and not saved, by account and form, as long as the page is loaded. */
const drafts = new Map();
const place = (key) => `${me()?.id} ${key}`;
/** What was typed into this form, by field; undefined where nothing was. */
export const draft = (key) => drafts.get(place(key));
let last = 0;

/** A typed number as one; null for nothing; anything else as it is, for the server to refuse. */
export const numberFrom = (text) => (text === "" ? null : Number.isNaN(Number(text)) ? text : Number(text));

/** A select over words of the API. */
export const choose = (name, options, chosen, titleOf = word) => h("select", {name}, options.map((one) => h("option", {value: one, selected: one === chosen}, titleOf(one))));

/** A field with a control (input, select, textarea); `name` is the one of the API, which refusals name. */
export function field(name, label, control, hint) {
    const id = `field${last += 1}`;
    control.id = id;
    return described(name, id, control, [h("label", {for: id}, label), control], hint, {
        read: () => control.value, write(value) {
            if (!control.options || [...control.options].some((one) => one.value === value)) control.value = value;
        },
    });
}

/** Checkboxes; the value is the array of those selected. `options` are {value, title}; a title is somebody's name, or an element. */
export function checkboxes(name, label, options, hint) {
    const id = `field${last += 1}`;
    const boxes = options.map((one) => h("input", {type: "checkbox", name, value: one.value}));
    const group = h("div", {role: "group", "aria-labelledby": id}, boxes.map((box, index) => h("label", {class: "inline"}, box, typeof options[index].title === "string" ? h("bdi", {class: "name"}, options[index].title) : options[index].title)));
    return described(name, id, group, [h("span", {id, class: "label"}, label), group], hint, {
        read: () => boxes.filter((box) => box.checked).map((box) => box.value),
        write: (values) => { for (const box of boxes) box.checked = values.includes(box.value); },
    });
}

function described(name, id, control, content, hint, access) {
    const problem = h("small", {class: "problemtext", id: `${id}problem`, role: "alert", hidden: true});
    control.setAttribute("aria-describedby", hint ? `${id}hint ${id}problem` : `${id}problem`);
    /** Shows what is wrong with the value, nothing for an empty text. */
    function tell(text) {
        control.setAttribute("aria-invalid", String(Boolean(text)));
        problem.textContent = text;
        problem.hidden = !text;
    }
    return {
        name, ...access, tell,
        element: h("div", {class: "field"}, ...content, hint && h("small", {class: "muted", id: `${id}hint`}, hint), problem),
        refuse(text) {
            tell(text);
            if (text) (control.matches("input, select, textarea") ? control : control.querySelector("input"))?.focus();
        },
    };
}

/**
 * A form over fields.
 * - `key` names what it changes;
 * - a field whose value is an object or a list gets the refusals of its parts too, with their path;
 * - `save()` sends the change and returns the answer, which `saved` gets, or null if nothing is to be sent;
 * - `again()` loads what it changes, where the server says that this is another by now.
 */
export function form({key, fields, button: title, save, saved, again}) {
    const problem = h("div", {class: "problem", role: "alert", hidden: true});
    const button = h("button", {type: "submit", class: "primary"}, title);
    const element = h("form", {class: "changeform", novalidate: true, oninput: keep, onsubmit: async (event) => {
        event.preventDefault();
        if (button.disabled) return;
        button.disabled = true;
        problem.hidden = true;
        for (const one of fields) one.refuse("");
        try {
            const answer = await save();
            if (!answer) return toast("There is no change to save.");
            drafts.delete(place(key));
            saved(answer);
        } catch (error) {
            refuse(error);
        } finally {
            button.disabled = false;
        }
    }}, fields.map((one) => one.element), problem, h("div", {class: "actions"}, button));
    for (const one of fields) if (draft(key)?.[one.name] !== undefined) one.write(draft(key)[one.name]);

    function keep() {
        drafts.set(place(key), Object.fromEntries(fields.map((one) => [one.name, one.read()])));
    }
    function refuse(error) {
        const isStale = [409, 412].includes(error.status);
        const refused = fields.find((one) => error.field === one.name || [".", "["].some((sign) => error.field?.startsWith(one.name + sign)));
        refused?.refuse(error.message, error.field);
        if (refused && !isStale) return;
        problem.replaceChildren(...refused ? [] : [h("p", {}, error.message)], ...isStale ? [h("button", {type: "button", class: "small", onclick: again}, "Load again")] : []);
        problem.hidden = false;
    }
    return element;
}
