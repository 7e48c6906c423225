// The language of the console: the browser's first one that there are words for, English otherwise. The page about the API, which
// shares the console's parts, is English.
//
// The pages are written in English. In another language each text is replaced as it comes into the page, by the lists of words; a text
// that no list has stays. Names and other people's words are in elements that are left as they are.

const locales = {en: "en-GB", de: "de", es: "es"};
const column = {de: 1, es: 2};
export const lists = ["logwords", "familywords", "questionwords", "serverwords"];
const untouched = "bdi, code, kbd, time, textarea, script, style";
const attributes = ["title", "aria-label", "placeholder"];

export const language = location.pathname.startsWith("/docs") ? "en" : navigator.languages.map((one) => one.split("-")[0].toLowerCase()).find((one) => Object.hasOwn(locales, one)) ?? "en";
/** The name of the language for formats of numbers, dates and times. */
export const locale = locales[language];

const words = new Map();
/** Texts with values: [pattern, translation], the longest first. */
const patterns = [];

/** The text in the page's language. */
export function said(text) {
    if (!words.size || !/\p{L}/u.test(text)) return text;
    const [, before, core, after] = /^(\s*)(.*?)(\s*)$/su.exec(text);
    return before + (words.get(core) ?? withValues(core) ?? core) + after;
}

function withValues(text) {
    for (const [pattern, translation] of patterns) {
        const found = pattern.exec(text);
        if (found) return translation.replace(/\{#?(\d)\}/g, (_, index) => said(found.groups[`v${index}`]));
    }
    return undefined;
}

/** `{0}` stands for any text, `{#0}` for a number. */
function pattern(text) {
    const source = text.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{(#?)(\d)\}/g, (_, isNumber, index) => `(?<v${index}>${isNumber ? "[\\d.,\\s\\u00A0]+" : ".+?"})`);
    return new RegExp(`^${source}$`, "su");
}

/** What was written into nodes, so that no translation is translated again: “Kind” is a word of two languages. */
const written = new WeakMap();

function replace(node, name, text, write) {
    const before = written.get(node) ?? {};
    if (before[name] === text) return;
    const translation = said(text);
    written.set(node, {...before, [name]: translation});
    if (translation !== text) write(translation);
}

function translate(node) {
    if (node.nodeType === Node.TEXT_NODE && !node.parentElement?.closest(untouched)) replace(node, "", node.data, (text) => { node.data = text; });
    if (node.nodeType !== Node.ELEMENT_NODE) return;
    for (const name of attributes) if (node.hasAttribute(name)) replace(node, name, node.getAttribute(name), (text) => node.setAttribute(name, text));
    for (const child of node.childNodes) translate(child);
}

if (language !== "en") {
    for (const list of await Promise.all(lists.map((name) => import(`/console/${name}.js`)))) {
        for (const row of list.default) {
            if (row[0].includes("{")) patterns.push([pattern(row[0]), row[column[language]], row[0].length]);
            else words.set(row[0], row[column[language]]);
        }
    }
    patterns.sort((one, other) => other[2] - one[2]);
    document.documentElement.lang = language;
    translate(document.documentElement);
    new MutationObserver((changes) => {
        for (const {type, target, addedNodes} of changes) {
            if (type === "childList") addedNodes.forEach(translate);
            else translate(target);
        }
    }).observe(document.documentElement, {subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: attributes});
}
