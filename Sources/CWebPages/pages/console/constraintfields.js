// The conditions and the action of a constraint, as parts of its form.
import {intents, levels, plain} from "/console/aiwords.js";
import {h} from "/console/dom.js";
import {choose, field} from "/console/form.js";


const comparisons = {contains: "contains", notContains: "does not contain", equals: "equals", notEquals: "does not equal", exceeds: "exceeds", lessThan: "is less than"};
/** What a condition looks at: its operators, and its values if they are a choice. */
const kinds = {
    content: {title: "Text of the question", operators: ["contains", "notContains", "equals", "notEquals"], hint: "Separate alternatives by “|”."},
    token_count: {title: "Length in tokens", operators: ["exceeds", "lessThan", "equals", "notEquals"]},
    intent: {title: "What it is for", operators: ["equals", "notEquals"], values: intents},
    privacy_level: {title: "Where it may be answered", operators: ["equals", "notEquals"], values: levels},
};
/** The actions; those with a text have its name in the API and its label. */
const actions = {
    block: {text: "reason", label: "Reason"}, force_local: {}, force_cloud: {},
    require_confirmation: {text: "prompt", label: "Question to the person"}, warn: {text: "message", label: "Warning"},
};

/** Tells a form that something in it has changed. */
const changed = (element) => element.dispatchEvent(new Event("input", {bubbles: true}));

// MARK: conditions

/** The list of conditions; the value is an array of {field, operator, value}. */
export function conditionsField() {
    const rows = [];
    const list = h("div", {class: "conditions"});
    const problem = h("small", {class: "problemtext", role: "alert", hidden: true});
    const add = h("button", {type: "button", class: "small", onclick: () => {
        insert();
        rows.at(-1).parts.field.control.focus();
        changed(element);
    }}, "Add a condition");
    const element = h("fieldset", {}, h("legend", {}, "Conditions"), h("p", {class: "fine"}, "The action applies if all of them hold."), list, problem, h("div", {class: "actions"}, add));

    function insert(condition) {
        const row = conditionRow(condition, () => {
            const at = rows.indexOf(row);
            rows.splice(at, 1);
            row.element.remove();
            count();
            (rows[at] ?? rows.at(-1))?.parts.field.control.focus();
            if (!rows.length) add.focus();
            changed(element);
        });
        rows.push(row);
        list.append(row.element);
        count();
    }
    function count() {
        rows.forEach((row, index) => row.setNumber(index + 1));
    }
    insert();

    return {
        name: "conditions", element,
        read: () => rows.map(({parts}) => ({field: parts.field.read(), operator: parts.operator.read(), value: parts.value.read()})),
        write(conditions) {
            rows.length = 0;
            list.replaceChildren();
            for (const condition of conditions) insert(condition);
        },
        refuse(text, path) {
            problem.textContent = "";
            problem.hidden = true;
            for (const {parts} of rows) for (const part of Object.values(parts)) part.refuse("");
            if (!text) return;
            const [, index, name] = /^conditions\[(\d+)\]\.(\w+)$/.exec(path) ?? [];
            const part = rows[index]?.parts[name];
            if (part) return part.refuse(text);
            problem.textContent = text;
            problem.hidden = false;
            (rows[0]?.parts.field.control ?? add).focus();
        },
    };
}

/** One condition. Its operators and values depend on what it looks at. */
function conditionRow(condition, remove) {
    const choice = choose("field", Object.keys(kinds), condition?.field, (name) => kinds[name].title);
    const button = h("button", {type: "button", class: "small", onclick: remove}, "Remove");
    const parts = {field: {...field("field", "If", choice), control: choice}};
    const element = h("div", {class: "condition", role: "group"}, parts.field.element);

    function build(wanted) {
        const {operators, values, hint} = kinds[choice.value];
        parts.operator?.element.remove();
        parts.value?.element.remove();
        parts.operator = field("operator", "Comparison", choose("operator", operators, wanted?.operator, (name) => comparisons[name]));
        parts.value = field("value", "Value", values ? choose("value", [...values.keys()], wanted?.value, (one) => plain(values, one)) : h("input", {type: "text", name: "value", autocomplete: "off", dir: "auto", ...choice.value === "token_count" && {inputmode: "numeric"}}), hint);
        if (wanted) parts.value.write(wanted.value);
        button.before(parts.operator.element, parts.value.element);
    }
    element.append(button);
    build(condition);
    choice.addEventListener("change", () => {
        build();
        changed(element);
    });
    return {
        element, parts,
        setNumber(number) {
            element.setAttribute("aria-label", `Condition ${number}`);
            button.setAttribute("aria-label", `Remove condition ${number}`);
        },
    };
}

// MARK: action

/** The action; the value is {type} and the text under the name that the type gives it. */
export function actionField() {
    const choice = choose("type", Object.keys(actions), "block");
    const type = field("type", "Then", choice);
    const element = h("fieldset", {}, h("legend", {}, "Action"), h("div", {class: "condition"}, type.element));
    let [text, words] = [null, ""];

    function build() {
        if (text) words = text.read();
        text?.element.remove();
        const {text: name, label} = actions[choice.value];
        text = name ? field(name, label, h("textarea", {name, rows: "2", dir: "auto"})) : null;
        text?.write(words);
        if (text) element.append(text.element);
    }
    build();
    choice.addEventListener("change", () => {
        build();
        changed(element);
    });
    return {
        name: "action", element,
        read: () => ({type: choice.value, ...text && {[text.name]: text.read()}}),
        write(action) {
            type.write(action.type);
            build();
            if (text) text.write(action[text.name] ?? "");
        },
        refuse(problem, path) {
            type.refuse("");
            text?.refuse("");
            if (problem) (text && path === `action.${text.name}` ? text : type).refuse(problem);
        },
    };
}
