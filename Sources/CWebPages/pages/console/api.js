// A client of the public API. Tokens are kept in this tab only.

let session = stored();
let ended = () => {};
let renewal = null;
/** The number of requests that are audit entries if an administrator makes them, and when the last one was sent or answered. */
let [recorded, recordedAt] = [0, 0];
const isRecorded = (path) => /^\/api\/v1\/audit\/(events|export|verify|status|families|activity|people|consents)\b|^\/api\/v1\/admin\//.test(path);

export class APIError extends Error {
    /** `details` has the name of the refused input in `field`, and of a question to the AI its code, its trace, and whether another
        try may help in `recoverable`. */
    constructor(status, message, details) {
        super(message);
        this.status = status;
        this.field = details?.field;
        this.code = details?.error_code;
        this.trace = details?.trace_id;
        this.recoverable = details?.recoverable;
    }
}

export const isSignedIn = () => session !== null;
export const onSessionEnd = (action) => { ended = action; };
export const me = () => session?.user;
/** The family in which the person is a participant or a child: {family_id, role}; nothing for guardians and administrators. */
export const ownMembership = () => session?.user?.family_memberships?.find((one) => one.role !== "guardian");
export const recordedReads = () => ({count: recorded, at: recordedAt});

function stored() {
    try { return JSON.parse(sessionStorage.getItem("nagz.session") || "null"); } catch { return null; }
}

function keep(answer) {
    session = answer && {access: answer.access_token, refresh: answer.refresh_token, user: answer.user};
    if (session) sessionStorage.setItem("nagz.session", JSON.stringify(session));
    else sessionStorage.removeItem("nagz.session");
}

async function send(method, path, {body, signal, match}) {
    const headers = {};
    if (body) headers["Content-Type"] = "application/json";
    if (match) headers["If-Match"] = match;
    if (session) headers.Authorization = `Bearer ${session.access}`;
    try {
        return await fetch(path, {method, headers, body: body && JSON.stringify(body), cache: "no-store", signal});
    } catch (error) {
        if (signal?.aborted) throw error;
        throw new APIError(0, "The server cannot be reached.");
    }
}

async function refused(response) {
    try {
        const {error} = await response.json();
        return new APIError(response.status, error.message, error.details);
    } catch {
        return new APIError(response.status, `The server answered ${response.status}.`);
    }
}

/** Returns a successful response. An expired access token is refreshed once; only a refused refresh ends the session. */
export async function open(method, path, options = {}) {
    if (!isRecorded(path)) return answered(method, path, options);
    [recorded, recordedAt] = [recorded + 1, Date.now()];
    try {
        return await answered(method, path, options);
    } catch (error) {
        if (error.status) recorded -= 1;
        throw error;
    } finally {
        recordedAt = Date.now();
    }
}

async function answered(method, path, options) {
    let response = await send(method, path, options);
    if (response.status === 401 && session && !path.includes("/auth/")) {
        renewal ??= renew().finally(() => { renewal = null; });
        if (await renewal) response = await send(method, path, options);
    }
    if (response.ok) return response;
    if (response.status === 401 && session) {
        keep(null);
        ended();
    }
    throw await refused(response);
}

/** Refreshes the tokens; false if the session has ended. If the server is busy or unreachable, that is an error instead. */
async function renew() {
    const response = await send("POST", "/api/v1/auth/refresh", {body: {refresh_token: session.refresh}});
    if (response.ok) {
        keep(await response.json());
        return true;
    }
    if ([400, 401, 403, 422].includes(response.status)) return false;
    throw await refused(response);
}

export function target(path, query = {}) {
    const wanted = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
    const text = new URLSearchParams(wanted).toString();
    return `/api/v1${path}${text ? `?${text}` : ""}`;
}

export const get = async (path, query, signal) => (await open("GET", target(path, query), {signal})).json();

/** Changes something; with an entity tag only the state that the user has seen. Returns the answer, null for one without content. */
export async function write(method, path, body, match, signal) {
    const response = await open(method, target(path), {body, match, signal});
    return response.status === 204 ? null : response.json();
}

/** A page of the audit log. The server reads a limited number of entries for each request: responses are joined until the page is
    full, the audit log ends, or `pages` requests were made. `tell` is called with the time back to which it has searched. */
export async function entries(query, signal, tell = () => {}, pages = 80) {
    const items = [];
    let page = {next_cursor: query.cursor};
    do {
        page = await get("/audit/events", {...query, cursor: page.next_cursor, limit: query.limit - items.length}, signal);
        items.push(...page.items);
        pages -= 1;
        if (page.searched_to) tell(page.searched_to);
    } while (page.searched_to && items.length < query.limit && pages > 0);
    return {...page, items};
}

export const signIn = (email, password) => begun("/api/v1/auth/login", {email, password});
export const signInChild = (code, username, pin) => begun("/api/v1/auth/child-login", {family_code: code, username, pin});

/** Begins a session with the answer to a sign-in. */
async function begun(path, body) {
    keep(null);
    const response = await send("POST", path, {body});
    if (!response.ok) throw await refused(response);
    keep(await response.json());
}

export async function signOut() {
    const refresh = session?.refresh;
    try { await send("POST", "/api/v1/auth/logout", {body: {refresh_token: refresh}}); } catch { /* the session ends in this tab anyway */ }
    keep(null);
}

/** Reads a stream of lines and reports the bytes and lines received so far. */
export async function lines(path, query, progress) {
    const response = await open("GET", target(path, query));
    const reader = response.body.getReader();
    const parts = [];
    let [bytes, count] = [0, 0];
    for (;;) {
        const {done, value} = await reader.read();
        if (done) return {parts, bytes, count};
        parts.push(value);
        bytes += value.length;
        for (const byte of value) if (byte === 10) count += 1;
        progress(bytes, count);
    }
}
