// Inclusion and consistency proofs of RFC 6962 Merkle trees.
import {byte, isSame, sha256} from "/console/bytes.js";

/** The root computed from an inclusion path (RFC 6962); null if the path does not fit the leaf. */
export async function rootOf(leaf, position, size, path) {
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

/** Whether the new tree extends the old one, verified by RFC 9162, 2.1.4.2. */
export async function isContinuation(old, grown, path) {
    if (old.size === grown.size) return isSame(old.root, grown.root);
    if (old.size < 1 || old.size > grown.size) return false;
    let [node, last] = [old.size - 1, grown.size - 1];
    while (node % 2 === 1) [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
    // If the old size is a power of two, the old tree is one node of the new tree.
    const hashes = node === 0 ? [old.root, ...path] : path;
    if (hashes.length === 0) return false;
    let [before, after] = [hashes[0], hashes[0]];
    for (const sibling of hashes.slice(1)) {
        if (last === 0) return false;
        if (node % 2 === 1 || node === last) {
            before = await sha256(byte(1), sibling, before);
            after = await sha256(byte(1), sibling, after);
            while (node % 2 === 0 && node !== 0) [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
        } else {
            after = await sha256(byte(1), after, sibling);
        }
        [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
    }
    return last === 0 && isSame(before, old.root) && isSame(after, grown.root);
}
