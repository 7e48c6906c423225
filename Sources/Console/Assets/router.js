// The URL's fragment contains the view, its filters and the open entry.

/** The parsed address {view, params, open}; `open` is {family, n}, "" for no entry, or null for an invalid one. */
export function currentRoute() {
    const [view, query] = location.hash.replace(/^#\/?/, "").split("?");
    const params = new URLSearchParams(query || "");
    const entry = params.get("open") || "";
    params.delete("open");
    return {view, params, open: entry ? readEntry(entry) : ""};
}

function readEntry(text) {
    const found = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/([1-9][0-9]{0,17})$/i.exec(text);
    return found ? {family: found[1].toLowerCase(), n: Number(found[2])} : null;
}

/** The address of a view with these filters; empty values are omitted. */
export function address(view, values = {}) {
    const wanted = Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined);
    const text = new URLSearchParams(wanted.map(([name, value]) => [name, String(value)])).toString();
    return `#/${view}${text ? `?${text}` : ""}`;
}

/** Changes filters of the current view and closes an open entry. */
export function setFilters(changes) {
    const {view, params} = currentRoute();
    location.hash = address(view, {...Object.fromEntries(params), ...changes});
}

function addressWith(entry) {
    const {view, params} = currentRoute();
    return address(view, {...Object.fromEntries(params), open: entry && `${entry.family}/${entry.n}`});
}

/** Opens an entry. Back closes it; replacing an open entry by another adds no step to the history. */
export function openEntry(family, n) {
    const isStep = currentRoute().open === "";
    history[isStep ? "pushState" : "replaceState"]({isEntry: isStep || history.state?.isEntry === true}, "", addressWith({family, n}));
    dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Closes the entry: one step back if it was opened here, else the same address without it. */
export function closeEntry() {
    if (currentRoute().open === "") return;
    if (history.state?.isEntry) {
        history.back();
    } else {
        history.replaceState(null, "", addressWith(null));
        dispatchEvent(new HashChangeEvent("hashchange"));
    }
}
