// C2SP signed notes: the keys that this browser trusts, and checkpoints.
import {CannotCheck, fromBase64, toHex, utf8} from "/console/bytes.js";

function parseKey(verifier) {
    const [name, hash, ...rest] = verifier.split("+");
    return {name, hash, bytes: fromBase64(rest.join("+")).subarray(1), verifier};
}

function parseNote(note) {
    const gap = note.lastIndexOf("\n\n");
    const signatures = note.slice(gap + 2).trimEnd().split("\n").map((line) => {
        const [, name, blob] = line.split(" ");
        const bytes = fromBase64(blob);
        return {name, hash: toHex(bytes.subarray(0, 4)), bytes: bytes.subarray(4)};
    });
    return {text: note.slice(0, gap + 1), signatures};
}

/** - Throws: `CannotCheck` if the browser has no Ed25519. */
async function isSigned(note, key) {
    if (!globalThis.crypto?.subtle) throw new CannotCheck("This page was not loaded over HTTPS, so the browser offers no cryptography to it.");
    for (const signature of note.signatures) {
        if (signature.name !== key.name || signature.hash !== key.hash) continue;
        let imported;
        try {
            imported = await crypto.subtle.importKey("raw", key.bytes, {name: "Ed25519"}, false, ["verify"]);
        } catch (error) {
            if (error.name === "NotSupportedError") throw new CannotCheck("This browser cannot check Ed25519 signatures.");
            throw error;
        }
        if (await crypto.subtle.verify("Ed25519", imported, signature.bytes, utf8.encode(note.text))) return true;
    }
    return false;
}

const pinPlace = (origin) => `nagz.key.${origin}`;
export const pinned = (origin) => localStorage.getItem(pinPlace(origin));

/** Pins a key if none is pinned (trust on first use). To be sure, compare it with the output of `nagz audit keys`. */
export function pin(origin, keys) {
    if (origin && !pinned(origin) && keys.length) localStorage.setItem(pinPlace(origin), keys[keys.length - 1].verifier);
}

/** A different log that this address has shown before; undefined if there was none. */
export const otherLog = (origin) => Object.keys(localStorage).filter((name) => name.startsWith(pinPlace(""))).map((name) => name.slice(pinPlace("").length)).find((name) => name !== origin);

/** The pinned key and all keys that were authorised from it, directly or in a chain. */
async function trusted(origin, keys) {
    const first = pinned(origin);
    if (!first) return [];
    const known = [parseKey(first)];
    for (let grown = true; grown;) {
        grown = false;
        for (const {verifier, handover} of keys) {
            if (!handover || known.some((key) => key.verifier === verifier)) continue;
            const note = parseNote(handover);
            if (note.text !== `nagz audit key\n${verifier}\n`) continue;
            for (const key of [...known]) {
                if (key.name === verifier.split("+")[0] && await isSigned(note, key)) {
                    known.push(parseKey(verifier));
                    grown = true;
                    break;
                }
            }
        }
    }
    return known;
}

/**
 * The content of a checkpoint signed by a trusted key: {size, root, time}; null for any other.
 * - Throws: `CannotCheck` if this browser cannot verify it.
 */
export async function checkpoint(note, origin, keys) {
    try {
        const parsed = parseNote(note);
        const [name, size, root, time] = parsed.text.split("\n");
        for (const key of await trusted(origin, keys)) {
            if (key.name !== name || name !== origin || !await isSigned(parsed, key)) continue;
            return {size: Number(size), root: fromBase64(root), time: new Date(Number(time.slice(5)) * 1000)};
        }
    } catch (error) {
        if (error instanceof CannotCheck) throw error;
    }
    return null;
}

// MARK: the largest checkpoint seen

const seenPlace = (origin) => `nagz.seen.${origin}`;

/** The largest signed checkpoint that this browser has seen: {size, root in hexadecimal, time}. */
export function highest(origin) {
    try { return JSON.parse(localStorage.getItem(seenPlace(origin)) || "null"); } catch { return null; }
}

/** Stores the largest checkpoint. Returns an error for a smaller log or a different history, else null. */
export function remember(origin, seen) {
    const before = highest(origin);
    const [root, size] = [toHex(seen.root), seen.size];
    if (before && size === before.size && root !== before.root) return `This browser saw another log of ${size} entries before.`;
    // A smaller checkpoint with an older time is a late response; with a newer time the log has shrunk.
    if (before && size < before.size && seen.time.getTime() >= before.time) return `This browser saw ${before.size} entries before, now there are ${size}.`;
    if (!before || size > before.size) localStorage.setItem(seenPlace(origin), JSON.stringify({size, root, time: seen.time.getTime()}));
    return null;
}
