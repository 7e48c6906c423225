// The checking of one entry in the browser: everything is computed from what the entry says, with WebCrypto, and compared
// with what a key that was pinned earlier has signed. The server is not believed.

const text = new TextEncoder();
const nobody = "00000000-0000-0000-0000-000000000000";

const fromHex = (hex) => Uint8Array.from(hex.match(/../g) || [], (pair) => parseInt(pair, 16));
export const toHex = (octets) => Array.from(octets, (octet) => octet.toString(16).padStart(2, "0")).join("");
const fromBase64 = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
const fromUUID = (uuid) => fromHex(uuid.replaceAll("-", ""));
const same = (left, right) => left.length === right.length && left.every((octet, index) => octet === right[index]);

function join(...parts) {
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let place = 0;
    for (const part of parts) {
        all.set(part, place);
        place += part.length;
    }
    return all;
}

const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", join(...parts)));
const byte = (value) => Uint8Array.of(value);

function eight(value) {
    const octets = new Uint8Array(8);
    new DataView(octets.buffer).setBigInt64(0, BigInt(value));
    return octets;
}

/** A field with its length before it; four 0xff where there is none. */
function field(octets) {
    if (octets === null) return Uint8Array.of(255, 255, 255, 255);
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, octets.length);
    return join(length, octets);
}

const id = (uuid) => (uuid === null ? null : fromUUID(uuid));

/** SHA-256(0x01 ‖ prev ‖ family ‖ n ‖ microseconds since 2000 ‖ act). */
async function entryHash(entry, microseconds) {
    const act = join(field(text.encode(entry.kind)), field(id(entry.actor)), field(id(entry.subject)), field(id(entry.resource_id)),
        field(id(entry.trace_id)), field(id(entry.request_id)), field(fromHex(entry.commit)));
    const time = BigInt(microseconds) - 946684800000000n;
    return sha256(byte(1), fromHex(entry.prev), fromUUID(entry.family_id), eight(entry.n), eight(time), act);
}

/** Names and values of a canonical body; null for what is none. */
export function readBody(octets) {
    const view = new DataView(octets.buffer, octets.byteOffset, octets.length);
    const fields = [];
    let place = 0;
    while (place < octets.length) {
        if (place + 4 > octets.length) return null;
        const length = view.getUint32(place);
        place += 4;
        if (length === 0xffffffff || place + length > octets.length) return null;
        fields.push(new TextDecoder("utf-8", {fatal: true}).decode(octets.subarray(place, place + length)));
        place += length;
    }
    if (fields.length % 2) return null;
    return Object.fromEntries(Array.from({length: fields.length / 2}, (_, index) => [fields[2 * index], fields[2 * index + 1]]));
}

/** The root that the path of RFC 6962 leads to; null when it is no path of that leaf. */
async function rootOf(leaf, position, size, path) {
    let [node, last, hash] = [position, size - 1, leaf];
    if (position >= size) return null;
    for (const sibling of path) {
        if (last <= 0) return null;
        if (node % 2 === 1 || node === last) {
            hash = await sha256(byte(1), sibling, hash);
            while (node % 2 === 0 && node !== 0) {
                node = Math.floor(node / 2);
                last = Math.floor(last / 2);
            }
        } else {
            hash = await sha256(byte(1), hash, sibling);
        }
        node = Math.floor(node / 2);
        last = Math.floor(last / 2);
    }
    return last === 0 ? hash : null;
}

// MARK: signed notes

function parseKey(verifier) {
    const [name, hash, ...rest] = verifier.split("+");
    const octets = fromBase64(rest.join("+"));
    return {name, hash, octets: octets.subarray(1), verifier};
}

function parseNote(note) {
    const gap = note.lastIndexOf("\n\n");
    const signatures = note.slice(gap + 2).trimEnd().split("\n").map((line) => {
        const [, name, blob] = line.split(" ");
        const octets = fromBase64(blob);
        return {name, hash: toHex(octets.subarray(0, 4)), octets: octets.subarray(4)};
    });
    return {text: note.slice(0, gap + 1), signatures};
}

async function isSigned(note, key) {
    for (const signature of note.signatures) {
        if (signature.name !== key.name || signature.hash !== key.hash) continue;
        const imported = await crypto.subtle.importKey("raw", key.octets, {name: "Ed25519"}, false, ["verify"]);
        if (await crypto.subtle.verify("Ed25519", imported, signature.octets, text.encode(note.text))) return true;
    }
    return false;
}

const pinPlace = (origin) => `nagz.key.${origin}`;
export const pinned = (origin) => localStorage.getItem(pinPlace(origin));

/** Pins a key when none is yet. Whoever wants more than that compares it with what `nagz audit keys` prints. */
export function pin(origin, keys) {
    if (!pinned(origin) && keys.length) localStorage.setItem(pinPlace(origin), keys[keys.length - 1].verifier);
    return pinned(origin);
}

/** The pinned key and those that it, or one it trusts, has handed over to. */
async function trusted(origin, keys) {
    const known = [parseKey(pinned(origin))];
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

/** The checkpoint a trusted key has signed. Remembers the highest and refuses a shrink. */
export async function checkpoint(note, origin, keys) {
    const parsed = parseNote(note);
    const [name, size, root, time] = parsed.text.split("\n");
    for (const key of await trusted(origin, keys)) {
        if (key.name !== name || name !== origin || !await isSigned(parsed, key)) continue;
        return {size: Number(size), root: fromBase64(root), time: new Date(Number(time.slice(5)) * 1000)};
    }
    return null;
}

export function remember(origin, seen) {
    const place = `nagz.seen.${origin}`;
    const highest = JSON.parse(localStorage.getItem(place) || "null");
    const [root, size] = [toHex(seen.root), seen.size];
    if (highest && size === highest.size && root !== highest.root) return `This browser saw another log of ${size} entries before.`;
    // An older answer may come late; a log that has shrunk says so with a newer time.
    if (highest && size < highest.size && seen.time.getTime() >= highest.time) return `This browser saw ${highest.size} entries before, now there are ${size}.`;
    if (!highest || size > highest.size) localStorage.setItem(place, JSON.stringify({size, root, time: seen.time.getTime()}));
    return null;
}

// MARK: one entry

/**
 * Checks an entry step by step. Each step is {title, state: "good" | "bad" | "open", note}.
 * `before` is the entry with the number before it, or null for the first and where it was pruned.
 */
export async function check(detail, before, shownDetails, status) {
    const {entry, proof} = detail;
    const steps = [];
    const step = (title, isGood, note) => steps.push({title, state: isGood === null ? "open" : isGood ? "good" : "bad", note});

    if (detail.payload === "whole") {
        const body = fromHex(detail.body);
        const commitment = await sha256(byte(2), fromHex(detail.salt), body);
        const read = readBody(body);
        const isShown = read !== null && JSON.stringify(Object.entries(read).sort()) === JSON.stringify(Object.entries(shownDetails || {}).sort());
        step("The details are those that were committed to", toHex(commitment) === entry.commit && isShown, `commitment ${toHex(commitment)}`);
    } else if (detail.payload === "erased") {
        step("The details were erased", null, "Their commitment stays in the chain; an entry “person.erased” says why.");
    } else {
        step("The details can be read", false, "They were changed, or their key is gone.");
    }

    const hash = await entryHash(entry, detail.at_us);
    const isWhole = toHex(hash) === entry.hash && Math.floor(detail.at_us / 1000) === new Date(entry.at).getTime();
    step("The entry is as it was written", isWhole, `hash ${toHex(hash)}`);

    const genesis = toHex(await sha256());
    if (entry.n === 1) step("It is the first of its chain", entry.prev === genesis, `previous ${entry.prev}`);
    else if (before) step(`It continues from entry ${entry.n - 1}`, before.hash === entry.prev, `previous ${entry.prev}`);
    else step(`Entry ${entry.n - 1} is not here`, null, "It was pruned, or could not be loaded.");

    if (!proof) {
        step("It is in the signed log", null, "It will be with the next checkpoint, within a second or so.");
        return steps;
    }
    const leaf = await sha256(byte(0), fromUUID(entry.family_id), eight(entry.n), fromHex(entry.hash));
    const root = await rootOf(leaf, proof.position, proof.size, proof.path.map(fromHex));
    const signed = await checkpoint(proof.checkpoint, status.origin, status.keys).catch(() => null);
    const isIn = signed !== null && signed.size === proof.size && root !== null && same(root, signed.root) && toHex(leaf) === proof.leaf;
    step(`It is in the signed log, at place ${proof.position} of ${proof.size}`, isIn, root ? `root ${toHex(root)}` : "the path leads nowhere");
    step("The log is signed by the pinned key", signed !== null, signed ? `${status.origin}, ${signed.time.toISOString()}` : "No key you trust has signed this checkpoint.");
    if (signed) {
        const complaint = remember(status.origin, signed);
        step("The log has only grown since this browser looked last", complaint === null, complaint || `${signed.size} entries`);
    }
    return steps;
}
