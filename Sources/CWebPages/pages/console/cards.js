// A list of cards over pages of the API (limit, offset, total): its states, and j and k.
import {get} from "/console/api.js";
import {failure, h, nothing, number, skeleton} from "/console/dom.js";
import {latest} from "/console/latest.js";

const pageSize = 100;

/**
 * A list of cards, in the order of the server; those that `comesFirst(item)` before the others that are loaded.
 * - `path` is the operation's, `label` the list's name, `empty` the text where nothing is found;
 * - `card(item)` returns an `article` with its actions in a footer;
 * - `onLoad()` is called after each page.
 */
export function cardList({path, label, empty, card, comesFirst = () => false, onLoad = () => {}}) {
    const place = latest();
    const items = new Map();
    const list = h("div", {class: "cards", "aria-label": label, role: "group"});
    const count = h("p", {class: "muted", role: "status"});
    const more = h("button", {type: "button", hidden: true, onclick: () => loadPage()}, "Load more");
    let [query, received, total, lastFirst] = [{}, 0, 0, null];

    function load(wanted) {
        items.clear();
        [query, received, total, lastFirst] = [wanted, 0, 0, null];
        list.replaceChildren(...skeleton(6));
        count.textContent = "";
        more.hidden = true;
        loadPage();
    }

    function loadPage() {
        more.disabled = true;
        place.run((signal) => get(path, {...query, limit: pageSize, offset: received}, signal), (page) => {
            if (!received) list.replaceChildren();
            received += page.items.length;
            ({total} = page);
            // Rows that were added meanwhile move others to the next page.
            for (const item of page.items.filter((one) => !items.has(one.id))) {
                const element = card(item);
                items.set(item.id, {item, element});
                if (!comesFirst(item)) {
                    list.append(element);
                    continue;
                }
                if (lastFirst) lastFirst.after(element);
                else list.prepend(element);
                lastFirst = element;
            }
            if (!items.size) list.replaceChildren(nothing(empty));
            count.textContent = items.size ? `${number(items.size)} of ${number(total)}` : "";
            more.disabled = false;
            more.hidden = !page.items.length || received >= total;
            onLoad();
        }, (error) => {
            more.disabled = false;
            more.hidden = true;
            if (!received) list.replaceChildren();
            list.append(failure(error, (event) => {
                event.target.closest(".empty").remove();
                if (received) loadPage();
                else load(query);
            }));
        });
    }

    /** Replaces an item by its newer state; one that the filter no longer matches stays until the list is loaded again. */
    function update(item) {
        const known = items.get(item.id);
        if (!known) return null;
        if (query.status && known.item.status === query.status && item.status !== query.status) received -= 1;
        const element = card(item);
        known.element.replaceWith(element);
        if (lastFirst === known.element) lastFirst = element;
        items.set(item.id, {item, element});
        return element;
    }

    const keys = (event) => {
        if (!["j", "k"].includes(event.key) || event.target.closest("input, select, textarea, dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
        const all = [...list.querySelectorAll("article")];
        const at = all.findIndex((one) => one.contains(document.activeElement));
        const next = all[at < 0 ? 0 : Math.min(Math.max(at + (event.key === "j" ? 1 : -1), 0), all.length - 1)];
        next?.querySelector("footer :is(a, button:not(:disabled))")?.focus();
    };
    addEventListener("keydown", keys);
    return {
        elements: [list, h("div", {class: "more"}, count, more)],
        load, update,
        find: (id) => items.get(id)?.item,
        loadMore: () => !more.hidden && loadPage,
        leave() {
            place.stop();
            removeEventListener("keydown", keys);
        },
    };
}

/** Links that select one status of a list. */
export function statusLinks(statuses, addressOf, titleOf = word) {
    const links = statuses.map((status) => h("a", {href: addressOf(status), "data-status": status}, titleOf(status)));
    return {
        element: h("div", {class: "segments", role: "group", "aria-label": "Status"}, links),
        set(chosen) {
            for (const link of links) {
                if (link.dataset.status === chosen) link.setAttribute("aria-current", "true");
                else link.removeAttribute("aria-current");
            }
        },
    };
}

/** A word of the API as the beginning of a sentence. */
export const word = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1).replaceAll("_", " ")}`;

export const fact = (name, ...value) => h("span", {class: "fact"}, h("span", {class: "muted"}, name), ...value);
