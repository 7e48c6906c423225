// A searchable select field (ARIA combobox) over pages from the server.
import {h, icon} from "/console/dom.js";
import {said} from "/console/language.js";
import {latest} from "/console/latest.js";

let last = 0;

/**
 * A searchable list under a field.
 * - `search(text, cursor, signal)` returns {items: [{value, title, note}], next_cursor};
 * - `all` is the title of the empty choice, or null if a choice is required;
 * - `titleOf(value)` returns the title of a choice;
 * - `onPick(value)` is called with the choice, "" for all.
 */
export function picker({name, label, all, titleOf, search, onPick}) {
    const id = `picker${last += 1}`;
    const place = latest();
    const input = h("input", {name, role: "combobox", type: "text", autocomplete: "off", spellcheck: "false", "aria-label": label, "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": id});
    const list = h("ul", {class: "options", id, role: "listbox", "aria-label": label, hidden: true});
    const box = h("div", {class: "picker"}, h("span", {"aria-hidden": "true"}, label), h("div", {class: "pickerfield"}, input, icon("down")), list);
    let [value, active, timer, next, text] = ["", -1, null, null, ""];
    const options = () => [...list.querySelectorAll("[role=option]")];

    function set(wanted) {
        value = wanted;
        if (list.hidden) input.value = value ? titleOf(value) : said(all ?? "");
    }
    function close() {
        clearTimeout(timer);
        place.stop();
        list.hidden = true;
        input.setAttribute("aria-expanded", "false");
        input.removeAttribute("aria-activedescendant");
        set(value);
    }
    function pick(choice) {
        value = choice;
        close();
        onPick(choice);
    }
    function mark(index) {
        const found = options();
        active = found.length ? (index + found.length) % found.length : -1;
        found.forEach((option, at) => option.classList.toggle("active", at === active));
        found[active]?.scrollIntoView({block: "nearest"});
        if (found[active]) input.setAttribute("aria-activedescendant", found[active].id);
        else input.removeAttribute("aria-activedescendant");
    }
    const option = (item, act) => {
        const element = h("li", {role: "option", id: `${id}-${options().length}`, class: item.value === "" ? "muted" : "", "aria-selected": String(item.value === value),
            onpointerdown: (event) => event.preventDefault(), onclick: act}, h(item.value ? "bdi" : "span", {}, item.title), item.note && h("small", {}, item.note));
        list.append(element);
    };
    function add(page) {
        list.querySelector(".waiting")?.remove();
        for (const item of page.items) option(item, () => pick(item.value));
        next = page.next_cursor;
        if (next) option({title: "More …"}, () => { options().at(-1).remove(); load(next); });
        else if (!options().length) list.append(h("li", {class: "muted none"}, "None found"));
    }
    function load(cursor) {
        active = -1;
        if (!cursor) {
            list.replaceChildren();
            if (all && !text) option({value: "", title: all}, () => pick(""));
        }
        list.append(h("li", {class: "waiting muted"}, "…"));
        const before = options().length;
        place.run((signal) => search(text, cursor, signal), (page) => {
            add(page);
            mark(cursor ? before : text ? 0 : Math.max(0, options().findIndex((one) => one.getAttribute("aria-selected") === "true")));
        }, (error) => list.replaceChildren(h("li", {class: "problemtext none"}, error.message)));
    }
    function open(wanted) {
        text = wanted;
        list.hidden = false;
        input.setAttribute("aria-expanded", "true");
        load();
    }

    input.addEventListener("focus", () => input.select());
    input.addEventListener("click", () => { if (list.hidden) open(""); });
    input.addEventListener("input", () => {
        clearTimeout(timer);
        // The listed items belong to an older search text: Enter does not select one.
        active = -1;
        timer = setTimeout(() => open(input.value.trim()), 150);
    });
    input.addEventListener("blur", close);
    input.addEventListener("keydown", (event) => {
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            if (list.hidden) open("");
            else mark(active + (event.key === "ArrowDown" ? 1 : -1));
        } else if (event.key === "Enter") {
            event.preventDefault();
            if (!list.hidden) options()[active]?.click();
        } else if (event.key === "Escape" && !list.hidden) {
            event.stopPropagation();
            close();
        }
    });
    set("");
    return {element: box, set, input};
}
