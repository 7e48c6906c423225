// The session of this tab, and how the tabs of this page share it.
//
// Tokens are in the tab's own storage, which ends with it: never in a cookie, which requests of other pages would carry too, and
// never in storage that outlives the browser. A new tab asks the others over a BroadcastChannel, which only pages of this address
// hear. One session has one refresh token, so tabs renew it one at a time, and a sign-out in one of them ends all of them.

const name = "nagz.session";
const channel = new BroadcastChannel(name);
/** How long another tab has for its answer, in milliseconds. */
const patience = 400;

let session = stored();
/** Takes a session of another tab while this one waits for it. */
let handOver = null;
let ended = () => {};

export const current = () => session;
/** Calls `action` when another tab has ended the session of this one. */
export const onEndElsewhere = (action) => { ended = action; };

function stored() {
    try { return JSON.parse(sessionStorage.getItem(name) || "null"); } catch { return null; }
}

function store(value) {
    session = value;
    if (session) sessionStorage.setItem(name, JSON.stringify(session));
    else sessionStorage.removeItem(name);
}

/** The session's id, and when its access token was issued; null for no token. */
function claims(value) {
    try {
        const {sid, iat} = JSON.parse(atob(value.access.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
        return {sid, iat};
    } catch {
        return null;
    }
}

/** Keeps the session of an answer to a sign-in or a renewal; the other tabs of the session get the new tokens. */
export function keep(answer) {
    store({access: answer.access_token, refresh: answer.refresh_token, user: answer.user});
    channel.postMessage({session});
}

/** Forgets the session in this tab. */
export const forget = () => store(null);

/** Forgets it in all tabs. */
export function forgetEverywhere() {
    if (session) channel.postMessage({ended: claims(session)?.sid});
    forget();
}

/** Asks the other tabs: for their session, or, in a tab that has one, for newer tokens of the same one. Returns whether one came. */
export function askOtherTabs() {
    return new Promise((done) => {
        const finish = (found) => {
            clearTimeout(timer);
            handOver = null;
            done(found);
        };
        const timer = setTimeout(() => finish(false), patience);
        handOver = () => finish(true);
        channel.postMessage({wanted: session ? claims(session) : {}});
    });
}

/** Runs `work` while no other tab does. Without a secure context there are no locks: the server's grace period has to do. */
export const alone = (work) => (navigator.locks ? navigator.locks.request(name, work) : work());

channel.onmessage = ({data}) => {
    const [own, theirs] = [session && claims(session), data.session && claims(data.session)];
    if (data.wanted && own && (!data.wanted.sid || data.wanted.sid === own.sid && data.wanted.iat < own.iat)) channel.postMessage({session});
    if (data.ended && data.ended === own?.sid) {
        forget();
        ended();
    }
    const isNewer = theirs && (own ? theirs.sid === own.sid && theirs.iat > own.iat : handOver !== null);
    if (isNewer) {
        store(data.session);
        handOver?.();
    }
};
