// The URL's fragment contains the view, its filters and what is open in a drawer.

/** The parsed address {view, params, open}; `open` is {family, n}, "" for no entry, or null for an invalid one. */
export function currentRoute() {
    const {view, params} = current();
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

/** Changes filters of the current view and closes an open entry: one step of the history, or none while something is typed. */
export function setFilters(changes, isTyping = false) {
    const {view, params} = currentRoute();
    const wanted = address(view, {...Object.fromEntries(params), ...changes});
    if (!isTyping) {
        location.hash = wanted;
    } else if (location.hash !== wanted) {
        history.replaceState(history.state, "", wanted);
        dispatchEvent(new HashChangeEvent("hashchange"));
    }
}

/** The view and all of its parameters. */
function current() {
    const [view, query] = location.hash.replace(/^#\/?/, "").split("?");
    return {view, params: new URLSearchParams(query || "")};
}

/** Opens a drawer, which a parameter names. Back closes it; replacing its content adds no step to the history. */
export function openDrawer(name, value) {
    const {view, params} = current();
    const isStep = !params.get(name);
    const opened = isStep ? name : history.state?.opened;
    history[isStep ? "pushState" : "replaceState"]({opened}, "", address(view, {...Object.fromEntries(params), [name]: value}));
    dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Closes a drawer: one step back if that step opened it, else the same address without it. */
export function closeDrawer(name) {
    const {view, params} = current();
    if (!params.get(name)) return;
    if (history.state?.opened === name) {
        history.back();
    } else {
        history.replaceState(null, "", address(view, {...Object.fromEntries(params), [name]: ""}));
        dispatchEvent(new HashChangeEvent("hashchange"));
    }
}

export const openEntry = (family, n) => openDrawer("open", `${family}/${n}`);
export const closeEntry = () => closeDrawer("open");
