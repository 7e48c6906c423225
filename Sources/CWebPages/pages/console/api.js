// A client of the public API, in the session of this tab.
import {alone, askOtherTabs, current, forget, forgetEverywhere, keep, onEndElsewhere} from "/console/session.js";
import {span} from "/console/time.js";

let renewal = null;
/** This page view: its trace, and its first read of the audit log. An administrator's reads under one trace are one entry of it. */
let view = {trace: random(16), first: null};
const isAudited = (path) => /^\/api\/v1\/(audit|admin)\//.test(path);

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

export const isSignedIn = () => current() !== null;
/** Calls `action` when the session has ended: at the server, or in another tab. */
export function onSessionEnd(action) {
    ended = action;
    onEndElsewhere(action);
}
let ended = () => {};
export const me = () => current()?.user;
/** The family in which the person is a participant or a child: {family_id, role}; nothing for guardians and administrators. */
export const ownMembership = () => current()?.user?.family_memberships?.find((one) => one.role !== "guardian");

function random(bytes) {
    return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Begins another page view. */
export function beginView() { view = {trace: random(16), first: null}; }

/** Reads from the audit log: the first of a view before the others, because its entry covers them. */
function inView(ask) {
    if (view.first) return view.first.then(ask);
    const answer = ask();
    view.first = answer.then(() => {}, () => {});
    return answer;
}

async function send(method, path, {body, signal, match}) {
    const headers = {};
    if (body) headers["Content-Type"] = "application/json";
    if (match) headers["If-Match"] = match;
    if (isAudited(path)) headers.traceparent = `00-${view.trace}-${random(8)}-01`;
    if (current()) headers.Authorization = `Bearer ${current().access}`;
    try {
        const ask = () => fetch(path, {method, headers, body: body && JSON.stringify(body), cache: "no-store", signal});
        return await (isAudited(path) ? inView(ask) : ask());
    } catch (error) {
        if (signal?.aborted) throw error;
        throw new APIError(0, "The server cannot be reached.");
    }
}

/** The error of a refusal. Where the server says when another try may succeed, so does the message. */
async function refused(response) {
    const seconds = Number(response.headers.get("Retry-After"));
    const later = seconds > 0 ? ` Try again in ${span(seconds * 1000)}.` : "";
    try {
        const {error} = await response.json();
        return new APIError(response.status, /\btry again\b/i.test(error.message) ? error.message : error.message + later, error.details);
    } catch {
        return new APIError(response.status, `The server answered ${response.status}.${later}`);
    }
}

/** Returns a successful response. An expired access token is renewed once; only a refused renewal ends the session. */
export async function open(method, path, options = {}) {
    let response = await send(method, path, options);
    if (response.status === 401 && current() && !path.includes("/auth/")) {
        renewal ??= renew(current().refresh).finally(() => { renewal = null; });
        if (await renewal) response = await send(method, path, options);
    }
    if (response.ok) return response;
    if (response.status === 401 && current()) {
        forget();
        ended();
    }
    throw await refused(response);
}

/** Renews the tokens, unless another tab has done so; false if the session has ended. If the server is busy or unreachable, that
    is an error instead. */
const renew = (refresh) => alone(async () => {
    if (current()?.refresh === refresh) await askOtherTabs();
    if (current()?.refresh !== refresh) return current() !== null;
    const response = await send("POST", "/api/v1/auth/refresh", {body: {refresh_token: refresh}});
    if (response.ok) {
        keep(await response.json());
        return true;
    }
    if ([400, 401, 403, 422].includes(response.status)) return false;
    throw await refused(response);
});

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
    forget();
    const response = await send("POST", path, {body});
    if (!response.ok) throw await refused(response);
    keep(await response.json());
}

export async function signOut() {
    try { await send("POST", "/api/v1/auth/logout", {body: {refresh_token: current()?.refresh}}); } catch { /* the session ends in the tabs anyway */ }
    forgetEverywhere();
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
