// Proofs in a Merkle tree of RFC 6962: that a leaf is in it, and that it has only grown.
import {byte, isSame, sha256} from "/console/bytes.js";

/** The root that the path of RFC 6962 leads to; null when it is no path of that leaf. */
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

/** Whether the tree of the new size and root begins with that of the old, by the proof of RFC 9162, 2.1.4.2. */
export async function isContinuation(old, grown, path) {
    if (old.size === grown.size) return isSame(old.root, grown.root);
    if (old.size < 1 || old.size > grown.size) return false;
    let [node, last] = [old.size - 1, grown.size - 1];
    while (node % 2 === 1) [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
    // The whole old tree is one node of the new when its size is a power of two.
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
