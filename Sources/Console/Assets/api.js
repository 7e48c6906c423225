// The public API, as the console uses it. Tokens live in this tab only.

let session = JSON.parse(sessionStorage.getItem("nagz.session") || "null");
let ended = () => {};
let renewal = null;

export class APIError extends Error {
    constructor(status, message) {
        super(message);
        this.status = status;
    }
}

export const isSignedIn = () => session !== null;
export const onSessionEnd = (action) => { ended = action; };
export const me = () => session?.user;

function keep(answer) {
    session = answer && {access: answer.access_token, refresh: answer.refresh_token, user: answer.user};
    if (session) sessionStorage.setItem("nagz.session", JSON.stringify(session));
    else sessionStorage.removeItem("nagz.session");
}

async function send(method, path, body) {
    const headers = {};
    if (body) headers["Content-Type"] = "application/json";
    if (session) headers.Authorization = `Bearer ${session.access}`;
    try {
        return await fetch(path, {method, headers, body: body && JSON.stringify(body), cache: "no-store"});
    } catch {
        throw new APIError(0, "The server cannot be reached.");
    }
}

async function refused(response) {
    let message = `The server answered ${response.status}.`;
    try { message = (await response.json()).error.message; } catch { /* no envelope */ }
    return new APIError(response.status, message);
}

/** A response that is a success; an access token that has run out is renewed once. */
export async function open(method, path, body) {
    let response = await send(method, path, body);
    if (response.status === 401 && session && !path.includes("/auth/")) {
        renewal ??= renew().finally(() => { renewal = null; });
        if (await renewal) response = await send(method, path, body);
    }
    if (response.ok) return response;
    if (response.status === 401 && session) {
        keep(null);
        ended();
    }
    throw await refused(response);
}

async function renew() {
    const response = await send("POST", "/api/v1/auth/refresh", {refresh_token: session.refresh});
    if (!response.ok) return false;
    keep(await response.json());
    return true;
}

export async function get(path, query = {}) {
    const wanted = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
    const text = new URLSearchParams(wanted).toString();
    return (await open("GET", `/api/v1${path}${text ? `?${text}` : ""}`)).json();
}

/** A page of the trail. The server looks at so many entries at a time: its answers are joined until the page is full, the trail
    ends, or patience does. `tell` hears how far back it has looked. */
export async function entries(query, tell = () => {}, patience = 80) {
    const items = [];
    let page = {next_cursor: query.cursor};
    do {
        page = await get("/audit/events", {...query, cursor: page.next_cursor, limit: query.limit - items.length});
        items.push(...page.items);
        patience -= 1;
        if (page.searched_to) tell(page.searched_to);
    } while (page.searched_to && items.length < query.limit && patience > 0);
    return {...page, items};
}

export async function signIn(email, password) {
    keep(null);
    const response = await send("POST", "/api/v1/auth/login", {email, password});
    if (!response.ok) throw await refused(response);
    keep(await response.json());
}

export async function signOut() {
    const refresh = session?.refresh;
    try { await send("POST", "/api/v1/auth/logout", {refresh_token: refresh}); } catch { /* it is over here anyway */ }
    keep(null);
}

/** Reads a stream of lines; tells of the octets and lines that have come. */
export async function lines(path, query, progress) {
    const text = new URLSearchParams(Object.entries(query).filter(([, value]) => value)).toString();
    const response = await open("GET", `/api/v1${path}${text ? `?${text}` : ""}`);
    const reader = response.body.getReader();
    const parts = [];
    let [octets, count] = [0, 0];
    for (;;) {
        const {done, value} = await reader.read();
        if (done) return {parts, octets, count};
        parts.push(value);
        octets += value.length;
        for (const octet of value) if (octet === 10) count += 1;
        progress(octets, count);
    }
}
