// Bytes: encoding, concatenation and hashing.

/** Thrown if this browser lacks a function for a check, as opposed to a failed check. */
export class CannotCheck extends Error {}

const noHash = "This page was not loaded over HTTPS, so the browser offers no cryptography to it.";

export const utf8 = new TextEncoder();
export const fromHex = (hex) => Uint8Array.from(hex.match(/../g) || [], (pair) => parseInt(pair, 16));
export const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
export const fromBase64 = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
export const fromUUID = (uuid) => fromHex(uuid.replaceAll("-", ""));
export const isSame = (left, right) => left.length === right.length && left.every((byte, index) => byte === right[index]);
export const byte = (value) => Uint8Array.of(value);

export function join(...parts) {
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let place = 0;
    for (const part of parts) {
        all.set(part, place);
        place += part.length;
    }
    return all;
}

/** - Throws: `CannotCheck` if the browser has no WebCrypto. */
export async function sha256(...parts) {
    if (!globalThis.crypto?.subtle) throw new CannotCheck(noHash);
    return new Uint8Array(await crypto.subtle.digest("SHA-256", join(...parts)));
}

export function eight(value) {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigInt64(0, BigInt(value));
    return bytes;
}
