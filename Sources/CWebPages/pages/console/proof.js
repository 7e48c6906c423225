// Verifies one entry in the browser with WebCrypto: everything is computed from the entry's fields and compared with a
// checkpoint signed by a pinned key. The server is not trusted.
import {byte, CannotCheck, eight, fromHex, fromUUID, isSame, join, sha256, toHex, utf8} from "/console/bytes.js";
import {rootOf} from "/console/merkle.js";
import {checkpoint} from "/console/notes.js";

/** A field prefixed with its length; four 0xff bytes for a missing field. */
function field(bytes) {
    if (bytes === null) return Uint8Array.of(255, 255, 255, 255);
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, bytes.length);
    return join(length, bytes);
}

const id = (uuid) => (uuid === null ? null : fromUUID(uuid));

/** SHA-256(0x01 ‖ prev ‖ family ‖ n ‖ microseconds since 2000 ‖ act). */
async function entryHash(entry, microseconds) {
    const act = join(field(utf8.encode(entry.kind)), field(id(entry.actor)), field(id(entry.subject)), field(id(entry.resource_id)),
        field(id(entry.trace_id)), field(id(entry.request_id)), field(fromHex(entry.commit)));
    const time = BigInt(microseconds) - 946684800000000n;
    return sha256(byte(1), fromHex(entry.prev), fromUUID(entry.family_id), eight(entry.n), eight(time), act);
}

/** The names and values of a canonical body; null if it is malformed. */
export function readBody(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const fields = [];
    let place = 0;
    while (place < bytes.length) {
        if (place + 4 > bytes.length) return null;
        const length = view.getUint32(place);
        place += 4;
        if (length === 0xffffffff || place + length > bytes.length) return null;
        fields.push(new TextDecoder("utf-8", {fatal: true}).decode(bytes.subarray(place, place + length)));
        place += length;
    }
    if (fields.length % 2) return null;
    return Object.fromEntries(Array.from({length: fields.length / 2}, (_, index) => [fields[2 * index], fields[2 * index + 1]]));
}

/**
 * Verifies an entry in steps. Each step is {title, state, note}; its state is "good", "bad", "open" for data that is not there yet
 * or was legitimately removed, or "unknown" if this browser cannot check it.
 * `before` is the previous entry, or null for the first entry or if the previous one was pruned.
 */
export async function check(detail, before, shownDetails, log) {
    const {entry, proof} = detail;
    const steps = [];
    /** `work` returns [title, result (null: open), note]; `title` is used if the result is unknown. */
    const step = async (title, work) => {
        try {
            const [found, isGood, note] = await work();
            steps.push({title: found, state: isGood === null ? "open" : isGood ? "good" : "bad", note});
        } catch (error) {
            const note = error instanceof CannotCheck ? error.message : `The check could not be carried out: ${error.message}`;
            steps.push({title, state: "unknown", note});
        }
    };

    await step("The details are those that were committed to", async () => {
        if (detail.payload === "erased") return ["The details were erased", null, "Their commitment stays in the chain; an entry “person.erased” says why."];
        if (detail.payload !== "whole") return ["The details can be read", false, "They were changed, or their key is gone."];
        const body = fromHex(detail.body);
        const read = readBody(body);
        const isShown = read !== null && JSON.stringify(Object.entries(read).sort()) === JSON.stringify(Object.entries(shownDetails || {}).sort());
        const commitment = await sha256(byte(2), fromHex(detail.salt), body);
        return ["The details are those that were committed to", toHex(commitment) === entry.commit && isShown, `commitment ${toHex(commitment)}`];
    });
    await step("The entry is as it was written", async () => {
        const hash = await entryHash(entry, detail.at_us);
        const isWhole = toHex(hash) === entry.hash && Math.floor(detail.at_us / 1000) === new Date(entry.at).getTime();
        return ["The entry is as it was written", isWhole, `hash ${toHex(hash)}`];
    });
    await step("It is the first of its chain", async () => {
        if (entry.n === 1) return ["It is the first of its chain", entry.prev === toHex(await sha256()), `previous ${entry.prev}`];
        if (before) return [`It continues from entry ${entry.n - 1}`, before.hash === entry.prev, `previous ${entry.prev}`];
        return [`Entry ${entry.n - 1} is not here`, null, "It was pruned, or could not be loaded."];
    });
    if (!proof) {
        steps.push({title: "It is in the signed log", state: "open", isSeal: true, note: "It will be with the next checkpoint, within a second or so."});
        return steps;
    }
    let signed;
    await step("The log is signed by the pinned key", async () => {
        signed = await checkpoint(proof.checkpoint, log.origin, await log.keys());
        return ["The log is signed by the pinned key", signed !== null, signed ? `${log.origin}, ${signed.time.toISOString()}` : "No key you trust has signed this checkpoint."];
    });
    await step("It is in the signed log", async () => {
        if (signed === undefined) throw new CannotCheck("Without the signature there is nothing to compare with.");
        const leaf = await sha256(byte(0), fromUUID(entry.family_id), eight(entry.n), fromHex(entry.hash));
        const root = await rootOf(leaf, proof.position, proof.size, proof.path.map(fromHex));
        const isIn = signed !== null && signed.size === proof.size && root !== null && isSame(root, signed.root) && toHex(leaf) === proof.leaf;
        return [`It is in the signed log, at place ${proof.position} of ${proof.size}`, isIn, root ? `root ${toHex(root)}` : "the path leads nowhere"];
    });
    if (signed) {
        await step("The log has only grown since this browser looked last", async () => {
            const complaint = await log.growthComplaint(signed);
            return ["The log has only grown since this browser looked last", complaint === null, complaint || `${signed.size} entries`];
        });
    }
    return steps;
}
