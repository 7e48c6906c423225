// A small client of Nagz to copy from: sign-in with refresh, pages, writes that are safe to repeat, sync, the WebSocket, and the check of
// a webhook. For browsers, and for Node.js from version 22.

/** An error response: its status, and code, message and details of the error. */
export class NagzError extends Error {
    constructor(response, error) {
        super(error.message);
        Object.assign(this, {status: response.status, code: error.code, details: error.details});
        this.retryAfter = Number(response.headers.get("Retry-After") ?? 0);
    }
}

const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

export class Client {
    #server;
    session = null;

    constructor(server) {
        this.#server = server.replace(/\/$/, "");
    }

    async logIn(email, password) {
        this.session = await this.send("POST", "/auth/login", {email, password});
    }

    /** Sends a request once. An access token that has expired is refreshed first. */
    async send(method, path, body, key) {
        try {
            return await this.#send(method, path, body, key);
        } catch (error) {
            if (error.status !== 401 || !this.session || path.startsWith("/auth/")) throw error;
        }
        // A refresh token is used once: store the new pair before anything else.
        const pair = await this.#send("POST", "/auth/refresh", {refresh_token: this.session.refresh_token});
        this.session = {...this.session, ...pair};
        return this.#send(method, path, body, key);
    }

    /** Sends a write until there is a response. The key makes it happen once, however often it is sent. */
    async write(method, path, body, attempts = 5) {
        const key = crypto.randomUUID();
        for (let attempt = 1; ; attempt += 1) {
            try {
                return await this.send(method, path, body, key);
            } catch (error) {
                // Without a status there was no response: it may have happened or not.
                if (attempt === attempts || (error.status && ![429, 503].includes(error.status))) throw error;
                await pause(error.retryAfter || 2 ** (attempt - 1));
            }
        }
    }

    /** Yields the items of a list, page after page. */
    async *pages(path, size = 100) {
        let [offset, total] = [0, 1];
        while (offset < total) {
            const page = await this.send("GET", `${path}${path.includes("?") ? "&" : "?"}limit=${size}&offset=${offset}`);
            yield* page.items;
            [offset, total] = [offset + page.limit, page.total];
        }
    }

    /**
     * Reads what has changed since the cursor ("start" at first), and returns the next one. `store` gets each page, and keeps its rows and
     * its `cursor` together.
     */
    async sync(family, cursor, store) {
        for (;;) {
            const page = await this.send("GET", `/sync/events?family_id=${family}&cursor=${encodeURIComponent(cursor)}`);
            await store(page); // with `must_refetch` it replaces everything
            cursor = page.cursor;
            if (!page.has_more) return cursor;
        }
    }

    /**
     * Calls `changed` with each event of the family until the socket closes, and returns the close code. On 4001 refresh the session,
     * otherwise wait a little; then listen again.
     */
    async listen(family, changed) {
        const {ticket} = await this.send("POST", "/ws/tickets");
        const socket = new WebSocket(`${this.#server.replace("http", "ws")}/api/v1/ws?ticket=${ticket}&family_id=${family}`);
        socket.onmessage = ({data}) => changed(JSON.parse(data));
        return new Promise((done) => { socket.onclose = ({code}) => done(code); });
    }

    async #send(method, path, body, key) {
        const headers = {"Content-Type": "application/json"};
        if (this.session) headers.Authorization = `Bearer ${this.session.access_token}`;
        if (key) headers["Idempotency-Key"] = key;
        const content = body === undefined ? undefined : JSON.stringify(body);
        const response = await fetch(`${this.#server}/api/v1${path}`, {method, headers, body: content});
        const text = await response.text();
        if (!response.ok) throw new NagzError(response, JSON.parse(text).error);
        return text ? JSON.parse(text) : undefined;
    }
}

/** Whether a webhook's request is the server's: call it with the body's text, before it is parsed. */
export async function isSigned(secret, headers, body, now = Date.now()) {
    const {"nagz-timestamp": timestamp, "nagz-signature": given} = headers;
    const encoder = new TextEncoder();
    const key = await crypto.subtle.importKey("raw", encoder.encode(secret), {name: "HMAC", hash: "SHA-256"}, false, ["verify"]);
    const [, digits] = String(given).match(/^v1=([0-9a-f]{64})$/) ?? [];
    if (!digits || !/^[0-9]+$/.test(timestamp) || Math.abs(now / 1000 - Number(timestamp)) > 300) return false;
    const signature = Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16));
    return crypto.subtle.verify("HMAC", key, signature, encoder.encode(`${timestamp}.${body}`)); // in constant time
}
