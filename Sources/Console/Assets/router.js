// Where the reader is: a view, what it is narrowed to, and the entry that lies open, all in the address.

/** The address as {view, params, open}; `open` is {family, n}, "" for none, or null for what is no entry. */
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

/** The address of a view, narrowed to what has a value. */
export function address(view, values = {}) {
    const wanted = Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined);
    const text = new URLSearchParams(wanted.map(([name, value]) => [name, String(value)])).toString();
    return `#/${view}${text ? `?${text}` : ""}`;
}

/** This view, narrowed otherwise; an open entry is closed. */
export function setFilters(changes) {
    const {view, params} = currentRoute();
    location.hash = address(view, {...Object.fromEntries(params), ...changes});
}

function addressWith(entry) {
    const {view, params} = currentRoute();
    return address(view, {...Object.fromEntries(params), open: entry && `${entry.family}/${entry.n}`});
}

/** Opens an entry: a step that Back takes back, or none where another entry lies open. */
export function openEntry(family, n) {
    const isStep = currentRoute().open === "";
    history[isStep ? "pushState" : "replaceState"]({isEntry: isStep || history.state?.isEntry === true}, "", addressWith({family, n}));
    dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Closes the entry: back to where it was opened from, or to the same address without it. */
export function closeEntry() {
    if (currentRoute().open === "") return;
    if (history.state?.isEntry) {
        history.back();
    } else {
        history.replaceState(null, "", addressWith(null));
        dispatchEvent(new HashChangeEvent("hashchange"));
    }
}
