// The audit log: a list with infinite scrolling, newest entry first, with keyboard control.
import {entries} from "/console/api.js";
import {failure, h, icon, number, skeleton} from "/console/dom.js";
import {exportMenu} from "/console/export.js";
import {makeFilters, names, readFilters} from "/console/filters.js";
import {watchNewEntries} from "/console/newentries.js";
import {kindBadge} from "/console/kinds.js";
import {latest} from "/console/latest.js";
import {family, loadPeopleOnce, loadFamilyName, loadPeople, person, short8} from "/console/people.js";
import {openEntry, setFilters} from "/console/router.js";
import {clock, day, shortTime, time} from "/console/time.js";

const pageSize = 100;
/** The largest number of rows in the page; the first rows are removed beyond it. */
const most = 3000;

export function auditLog(main, state) {
    const isAdmin = state.status.reader === "admin";
    const place = latest();
    const filters = makeFilters(isAdmin);
    const body = h("tbody", {});
    const table = h("table", {class: "auditlog", role: "grid", "aria-label": "Entries, newest first", "aria-rowcount": "-1"},
        h("thead", {}, h("tr", {}, ["Time", "What", "Who", "To whom", isAdmin ? "Family" : "Thing", "No."].map((title) => h("th", {scope: "col"}, title)))), body);
    const end = h("div", {class: "more", role: "status"});
    const fresh = h("button", {type: "button", class: "fresh primary", hidden: true, onclick: () => reload(true)}, icon("up"), h("span", {}, ""));
    const older = h("button", {type: "button", class: "newest", hidden: true, onclick: () => reload(true)}, icon("up"), "Back to the newest");
    let [wanted, cursor, isLoading, isOver, isPaused, lastDay, selected, newest, stopWatching] = [{}, "", false, false, false, "", null, null, () => {}];
    main.append(h("div", {class: "pagehead"}, h("h1", {}, "Audit log"), exportMenu(() => readFilters(wanted))), filters.element,
        h("div", {role: "status", class: "freshbar"}, fresh), h("div", {class: "listbox"}, table, end), older);

    // MARK: rows

    const rows = () => [...body.querySelectorAll("tr[data-n]")];
    const select = (row, focus = true) => {
        selected?.setAttribute("aria-selected", "false");
        if (selected) selected.tabIndex = -1;
        selected = row;
        row.setAttribute("aria-selected", "true");
        row.tabIndex = 0;
        if (focus) row.focus();
    };
    const show = (row) => {
        select(row);
        openEntry(row.dataset.family, row.dataset.n);
    };
    const line = (entry) => {
        const row = h("tr", {"data-n": entry.n, "data-family": entry.family_id, "data-trace": entry.trace_id, tabindex: "-1", role: "row", "aria-selected": "false", onclick: () => show(row)},
            h("td", {class: "when"}, time(entry.at, clock)), h("td", {class: "what"}, kindBadge(entry.kind), summary(entry)), h("td", {class: "whofrom"}, person(entry.actor)),
            h("td", {class: "whoto"}, entry.subject && entry.subject !== entry.actor ? person(entry.subject) : h("span", {class: "muted"}, "–")),
            h("td", {class: "where"}, isAdmin ? family(entry.family_id) : entry.resource_id ? h("code", {}, short8(entry.resource_id)) : h("span", {class: "muted"}, "–")),
            h("td", {class: "no"}, number(entry.n)));
        return row;
    };

    // MARK: pages

    function reload(isAsked = false) {
        place.stop();
        stopWatching();
        stopWatching = () => {};
        [cursor, isLoading, isOver, isPaused, lastDay, selected, newest] = ["", false, false, false, "", null, null];
        fresh.hidden = older.hidden = true;
        body.replaceChildren();
        end.replaceChildren(...skeleton(8));
        const {query, problem} = readFilters(wanted);
        if (problem) {
            isOver = true;
            return end.replaceChildren(h("div", {class: "empty", role: "alert"}, h("h3", {}, "This filter cannot be used"), h("p", {}, problem)));
        }
        if (isAsked) scrollTo({top: 0});
        load(query, isAsked);
    }

    function load(query, takesFocus = false) {
        if (isLoading || isOver || isPaused) return;
        isLoading = true;
        const isFirst = !cursor;
        const lookedBack = h("p", {class: "muted"});
        end.replaceChildren(...skeleton(isFirst ? 8 : 2), lookedBack);
        place.run(async (signal) => {
            // The entries come first: an administrator's entry about them covers the names.
            const page = await entries({...query, cursor, limit: pageSize}, signal, (moment) => { lookedBack.textContent = `Searching back: ${shortTime(moment)} …`; });
            if (isFirst) await Promise.all([(isAdmin ? loadPeopleOnce : loadPeople)(wanted.family_id, signal), loadFamilyName(isAdmin && wanted.family_id, signal)]).then(() => filters.sync(wanted));
            return page;
        }, (page) => {
            isLoading = false;
            append(page);
            if (isFirst) {
                newest = page.items[0] ?? null;
                // Each search of an administrator is an entry itself: it is not repeated by the page.
                if (!isAdmin || !query.q) stopWatching = watchNewEntries(query, () => newest, (count, text) => {
                    fresh.hidden = count === 0;
                    if (fresh.lastChild.textContent !== text) fresh.lastChild.textContent = text;
                });
                if (takesFocus && rows().length) select(rows()[0]);
            }
            finish(page, query);
            if (!isOver && !isPaused && end.getBoundingClientRect().top < innerHeight + 600) load(query);
        }, (error) => {
            isLoading = false;
            isOver = true;
            end.replaceChildren(failure(error, () => {
                isOver = false;
                load(query);
            }));
        });
    }

    function append(page) {
        const added = [];
        for (const entry of page.items) {
            const title = day(new Date(entry.at));
            if (title !== lastDay) added.push(h("tr", {class: "day"}, h("th", {colspan: "6", scope: "colgroup"}, title)));
            lastDay = title;
            added.push(line(entry));
        }
        body.append(...added);
        if (body.children.length > most) {
            [...body.children].slice(0, body.children.length - most + 1000).forEach((row) => row.remove());
            older.hidden = false;
        }
        if ((!selected || !selected.isConnected) && rows().length) {
            [selected] = rows();
            selected.tabIndex = 0;
        }
    }

    function finish(page, query) {
        cursor = page.next_cursor;
        isOver = !cursor;
        isPaused = Boolean(page.searched_to) && page.items.length < pageSize;
        end.replaceChildren(...isOver ? [h("p", {class: "muted"}, body.children.length ? "These are all entries." : "No entry matches these filters.")]
            : isPaused ? [h("p", {class: "muted"}, `Searched back to ${shortTime(page.searched_to)}. There are older entries.`), h("button", {type: "button", class: "small", onclick: () => { isPaused = false; load(query); }}, "Search further back")]
            : skeleton(2));
    }

    // MARK: keyboard

    const watcher = new IntersectionObserver((seen) => {
        if (cursor && seen.some((one) => one.isIntersecting)) load(readFilters(wanted).query);
    }, {rootMargin: "600px"});
    watcher.observe(end);
    const keys = (event) => {
        if (event.target.closest("input, select, dialog, details, .options") || event.ctrlKey || event.metaKey || event.altKey) return;
        const all = rows();
        const at = all.indexOf(selected);
        if (["j", "ArrowDown"].includes(event.key) && all.length) {
            event.preventDefault();
            const isFirst = selected?.getAttribute("aria-selected") !== "true";
            select(all[isFirst ? Math.max(at, 0) : Math.min(at + 1, all.length - 1)]);
        } else if (["k", "ArrowUp"].includes(event.key) && all.length) {
            event.preventDefault();
            select(all[Math.max(at - 1, 0)]);
        } else if (event.key === "Enter" && selected && event.target.tagName !== "BUTTON" && event.target.tagName !== "A") {
            event.preventDefault();
            show(selected);
        } else if (event.key === "t" && selected) setFilters({trace_id: selected.dataset.trace});
    };
    addEventListener("keydown", keys);
    return {
        update(params) {
            wanted = Object.fromEntries(names.map((name) => [name, params.get(name) || ""]));
            if (!isAdmin) wanted.family_id = state.status.family_id;
            filters.sync(wanted);
            reload();
        },
        leave() {
            place.stop();
            stopWatching();
            watcher.disconnect();
            removeEventListener("keydown", keys);
        },
    };
}

/** A summary of an entry in a few words. */
function summary(entry) {
    const details = entry.details || {};
    const words = details.reason || details.output || details.rule || details.consent_type || details.type || details.category || details.method || details.operation;
    return words ? h("bdi", {class: "words"}, words.replaceAll("_", " ")) : null;
}
