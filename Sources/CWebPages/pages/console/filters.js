// The filters above the audit log: created once and updated from the address, so that focus is kept.
import {familyPicker, personPicker} from "/console/choices.js";
import {h, icon} from "/console/dom.js";
import {allKinds} from "/console/kinds.js";
import {short8} from "/console/people.js";
import {address, setFilters} from "/console/router.js";
import {dateText, fieldsOf, readMoment, textOf} from "/console/time.js";

export const names = ["q", "family_id", "person_id", "kind", "from", "to", "without_own_reads", "actor_id", "subject_id", "resource_id", "trace_id"];
/** Filters without a field, shown as chips. */
const chipLabels = {actor_id: "by", subject_id: "about", resource_id: "thing", trace_id: "trace"};
/** How long after the last letter the search begins, in milliseconds. */
const pause = 300;
const presets = [["Today", 0], ["7 days", -6], ["30 days", -29]];

/** The filters' query for the server: {query} with timestamps, or {problem} as text. */
export function readFilters(wanted) {
    const query = {...wanted};
    for (const name of ["from", "to"]) {
        if (!wanted[name]) continue;
        const moment = readMoment(wanted[name], name === "to");
        if (!moment) return {problem: `“${wanted[name].slice(0, 60)}” in “${name === "from" ? "From" : "To"}” is not a date. Choose a day, or clear the filter.`};
        query[name] = moment.toISOString();
    }
    if (query.from && query.to && query.from >= query.to) return {problem: "“From” is after “To”. Choose an earlier day for “From”."};
    return {query};
}

/** The form, and `sync`, which updates it from the address. */
export function makeFilters(isAdmin) {
    let [wanted, timer] = [{}, null];
    const find = () => {
        clearTimeout(timer);
        setFilters({q: search.value.trim()}, true);
    };
    const search = h("input", {id: "q", type: "search", placeholder: isAdmin ? "Kind, id or its end, administrator's address" : "Kind, name, id or its end", "aria-label": "Search", autocomplete: "off", dir: "auto",
        onchange: find, oninput: (event) => {
            clearTimeout(timer);
            if (!event.isComposing) timer = setTimeout(find, pause);
        }});
    const family = isAdmin && familyPicker("all families", (id) => setFilters({family_id: id, person_id: ""}));
    const person = personPicker(() => wanted.family_id, (id) => setFilters({person_id: id}));
    const kind = h("select", {name: "kind", onchange: () => setFilters({kind: kind.value})});
    const moments = Object.fromEntries([["from", "From"], ["to", "To"]].map(([name, text]) => [name, momentFields(name, text)]));
    const days = h("div", {class: "segments", role: "group", "aria-label": "Time"}, presets.map(([text, from]) =>
        h("button", {type: "button", "data-from": String(from), onclick: () => setFilters({from: dateText(from), to: ""})}, text)));
    const chips = h("div", {class: "chips"});
    const clear = h("button", {type: "button", class: "ghost small", onclick: () => { location.hash = address("trail"); }}, "Clear all");
    const ownReads = isAdmin && h("input", {type: "checkbox", name: "without_own_reads", onchange: () => setFilters({without_own_reads: ownReads.checked ? "true" : ""})});
    /** On a small screen everything but the search is behind this button. */
    const fold = h("button", {type: "button", class: "fold small", "aria-expanded": "false", onclick: () => fold.setAttribute("aria-expanded", String(form.classList.toggle("open")))});
    const form = h("form", {class: "filters card", role: "search", onsubmit: (event) => { event.preventDefault(); find(); }},
        h("div", {class: "searchbox"}, icon("search"), search), fold, family && family.element, person.element,
        h("label", {}, h("span", {}, "Kind"), kind), moments.from.element, moments.to.element, days, ownReads && h("label", {class: "inline"}, ownReads, "Without my own reads"), chips, clear);

    function sync(next) {
        wanted = next;
        if (document.activeElement !== search) search.value = wanted.q;
        if (ownReads) ownReads.checked = wanted.without_own_reads === "true";
        const count = names.filter((name) => wanted[name] && name !== "q" && (isAdmin || name !== "family_id")).length;
        fold.textContent = count ? `Filters (${count} set)` : "Filters";
        if (family) family.set(wanted.family_id);
        person.set(wanted.person_id);
        const kinds = allKinds();
        kind.replaceChildren(h("option", {value: ""}, "all kinds"), ...(wanted.kind && !kinds.includes(wanted.kind) ? [wanted.kind, ...kinds] : kinds).map((one) => h("option", {value: one, selected: one === wanted.kind}, one)));
        for (const name of ["from", "to"]) moments[name].set(wanted[name]);
        for (const button of days.children) button.setAttribute("aria-pressed", String(!wanted.to && wanted.from === dateText(Number(button.dataset.from))));
        chips.replaceChildren(...Object.keys(chipLabels).filter((name) => wanted[name]).map((name) =>
            h("button", {type: "button", class: "chip", "aria-label": `Remove the filter ${chipLabels[name]} ${short8(wanted[name])}`, onclick: () => { setFilters({[name]: ""}); search.focus(); }}, `${chipLabels[name]} ${short8(wanted[name])}`, icon("cross"))));
        chips.hidden = !chips.children.length;
        clear.hidden = !names.some((name) => wanted[name] && (isAdmin || name !== "family_id"));
    }
    return {element: form, sync};
}

/** A date field with an optional time field, in the displayed zone. */
function momentFields(name, text) {
    const go = () => setFilters({[name]: textOf(date.value, clock.value)});
    const date = h("input", {type: "date", name, "aria-label": `${text}, day`, onchange: go});
    const clock = h("input", {type: "time", name: `${name}_time`, "aria-label": `${text}, time of day, if wanted`, onchange: () => { if (date.value) go(); }});
    const problem = h("small", {class: "problemtext", hidden: true}, "not a date");
    return {
        element: h("div", {class: "moment", role: "group", "aria-label": text}, h("span", {"aria-hidden": "true"}, text), h("div", {}, date, clock), problem),
        set(value) {
            const isWrong = Boolean(value) && !readMoment(value);
            const fields = fieldsOf(value);
            if (date.value !== fields.date) date.value = fields.date;
            if (clock.value !== fields.time && document.activeElement !== clock) clock.value = fields.time;
            date.setAttribute("aria-invalid", String(isWrong));
            problem.hidden = !isWrong;
        },
    };
}
