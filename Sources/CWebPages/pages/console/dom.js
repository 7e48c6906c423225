// Functions that all views use: creating elements and showing messages.
import {language} from "/console/language.js";
import {whenReachable} from "/console/recovery.js";

/** Creates an element: h("a", {href: "#/trail", class: "link", onclick: go}, "Audit log", child, [more]). */
export function h(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (value === undefined || value === null || value === false) continue;
        if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
        else if (key in element && typeof value !== "string") element[key] = value;
        else element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
    return element;
}

/** Creates an SVG element. */
export function svg(name, attributes = {}, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
        else if (value !== undefined && value !== null) element.setAttribute(key, value);
    }
    element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
    return element;
}

const paths = {
    overview: "M4 13h6V4H4zm0 7h6v-5H4zm10 0h6v-9h-6zm0-16v5h6V4z",
    trail: "M5 6h14M5 12h14M5 18h9",
    decisions: "M12 3l1.9 5.1L19 10l-5.1 1.9L12 17l-1.9-5.1L5 10l5.1-1.9zM19 16l.8 2.2L22 19l-2.2.8L19 22l-.8-2.2L16 19l2.2-.8z",
    consents: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM9 12l2 2 4-4",
    constraints: "M4 5h16l-6 7v7l-4-2v-5z",
    executions: "M4 5h16v11H9l-5 4z",
    ai: "M4 7h9M17 7h3M4 17h3M11 17h9M15 4v6M9 14v6",
    drafts: "M4 20l1-5L16 4l4 4L9 19z",
    policies: "M7 3h8l4 4v14H7zM10 11h6M10 15h6", deliveries: "M4 6h16v12H4zM4 7l8 6 8-6", moderation: "M6 21V4h12l-3 4 3 4H6",
    check: "M5 12.5l4.5 4.5L19 7.5", cross: "M6 6l12 12M18 6L6 18", wait: "M12 7v5l3 2M12 3a9 9 0 100 18 9 9 0 000-18z",
    unknown: "M9.2 9a2.9 2.9 0 115 2c-1.2.9-2.2 1.4-2.2 3M12 17.6v.2",
    search: "M11 4a7 7 0 100 14 7 7 0 000-14zM16 16l4.5 4.5", out: "M14 4h6v16h-6M10 8l-4 4 4 4M6 12h10",
    download: "M12 4v11M7 10.5l5 5 5-5M5 20h14", theme: "M20 14.5A8 8 0 119.5 4 6.5 6.5 0 0020 14.5z", help: "M9.2 9a2.9 2.9 0 115 2c-1.2.9-2.2 1.4-2.2 3M12 17.6v.2",
    link: "M10 14a4 4 0 005.7 0l3-3a4 4 0 00-5.7-5.7l-1 1M14 10a4 4 0 00-5.7 0l-3 3a4 4 0 005.7 5.7l1-1",
    shield: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6z", copy: "M8 8h11v12H8zM5 16V4h11", up: "M12 19V6M6 11l6-6 6 6", lower: "M12 5v13M6 13l6 6 6-6", down: "M6 9l6 6 6-6",
};

/** An icon, hidden from screen readers. */
export function icon(name) {
    const solid = name === "overview";
    return svg("svg", {viewBox: "0 0 24 24", class: solid ? "icon solid" : "icon", "aria-hidden": "true"},
        svg("path", {d: paths[name]}));
}

export const number = (value) => new Intl.NumberFormat(language).format(value);
/** A number with one decimal. */
export const tenths = (value) => new Intl.NumberFormat(language, {minimumFractionDigits: 1, maximumFractionDigits: 1}).format(value);

// MARK: messages

export function toast(text, tone = "info") {
    const box = h("div", {class: `toast ${tone}`}, text);
    document.getElementById("toasts").append(box);
    setTimeout(() => box.remove(), 5000);
}

export function copyable(text) {
    return h("button", {class: "copy", type: "button", title: "Copy", "aria-label": `Copy ${text}`, onclick: async () => {
        try {
            await navigator.clipboard.writeText(text);
            toast("Copied");
        } catch {
            toast("This browser copies only over HTTPS. Select the text instead.", "bad");
        }
    }}, h("code", {title: text}, text.length > 40 ? `${text.slice(0, 22)}…${text.slice(-10)}` : text), icon("copy"));
}

export const skeleton = (rows) => Array.from({length: rows}, () => h("div", {class: "skeleton", "aria-hidden": "true"}));
export const nothing = (text) => h("div", {class: "empty"}, h("p", {}, text));
/** The code and the trace of an error, to be copied; nothing where it has none. */
export const errorFacts = (error) => (error.code || error.trace ? h("p", {class: "factrow errorfacts"}, error.code && h("span", {class: "fact"}, h("span", {class: "muted"}, "code"), copyable(error.code)),
    error.trace && h("span", {class: "fact"}, h("span", {class: "muted"}, "trace"), copyable(error.trace))) : null);
/** What is shown where something could not be loaded. Without the server, `again` is called by itself when it answers. */
export function failure(error, again) {
    const button = again && h("button", {type: "button", onclick: again}, "Try again");
    const isUnreachable = again && error.status === 0;
    const box = h("div", {class: "empty", role: "alert"}, h("h3", {}, "This could not be loaded"), h("p", {}, error.message, isUnreachable && " It is loaded as soon as the server answers."), errorFacts(error), button);
    if (isUnreachable) whenReachable(box, () => button.click());
    return box;
}

/** A dialog about something that failed: what, why, its code and trace, and a button that tries it again. */
export function showError(heading, error, again) {
    const close = () => dialog.close();
    const dialog = h("dialog", {class: "help errordialog", "aria-labelledby": "errorheading"}, h("h2", {id: "errorheading"}, heading), h("p", {role: "alert"}, error.message), errorFacts(error),
        h("div", {class: "actions"}, again && h("button", {type: "button", class: "primary", onclick: () => { close(); again(); }}, "Try again"), h("button", {type: "button", onclick: close}, "Close")));
    const from = document.activeElement;
    dialog.addEventListener("close", () => {
        dialog.remove();
        if (from?.isConnected) from.focus();
    });
    document.body.append(dialog);
    dialog.showModal();
}
