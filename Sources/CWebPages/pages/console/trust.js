// The trust state of the audit log, as shown by the pill, the card and the verdicts.
//
// It combines the server's status, this browser's own checks, the age of both, and the findings. A finding stays, over views and
// reloads, until the user dismisses it.
import {get, me} from "/console/api.js";
import {CannotCheck, fromHex} from "/console/bytes.js";
import {isContinuation} from "/console/merkle.js";
import {checkpoint, highest, otherLog, pin, pinned, remember} from "/console/notes.js";
import {onPoll, pollSoon} from "/console/poll.js";
import {clock} from "/console/time.js";

/** After that many milliseconds without a response the state is old. */
const freshMilliseconds = 30_000;
/** The server signs a checkpoint at least every five minutes. With an older one than this the state is not green. */
const checkpointMilliseconds = 15 * 60_000;

const facts = {
    /** The server's status: `current`, `late`, `broken` or `off`; null before the first response. */
    server: null,
    /** What the server says of its background check, and how many findings of verifications nobody has acknowledged there. */
    checked: null, kept: 0,
    /** "good", "unknown" with a reason, or null before the first check. A failed check is a finding. */
    signature: null, signatureNote: "",
    /** The newest checkpoint with a valid signature: {size, root, time}. */
    head: null,
    lastAnswerAt: null, isReachable: true, problem: "",
    origin: null, keys: [],
};
const watchers = new Set();
let findings = [];
let stopWatching = () => {};
let comparing = Promise.resolve();

// MARK: state

/** The data against which an entry is verified. */
export const log = {
    get origin() { return facts.origin; },
    async keys() {
        ({keys: facts.keys} = await get("/audit/log/keys"));
        return facts.keys;
    },
    growthComplaint,
};
export const head = () => facts.head;
export const signature = () => ({state: facts.signature, note: facts.signatureNote});
export const lastAnswerAt = () => facts.lastAnswerAt;
export const allFindings = () => findings;
/** How many findings of verifications the server keeps until somebody acknowledges them. */
export const kept = () => facts.kept;

/** Calls `show` now and whenever the state may have changed, until the returned function is called. */
export function onTrust(show) {
    watchers.add(show);
    show(trust());
    return () => watchers.delete(show);
}

function notify() {
    for (const show of [...watchers]) show(trust());
}

/** The state as {tone: "good" | "bad" | "open", word, title, line}. Green requires a recent response and a signature verified
    here. Findings (red) take precedence. */
export function trust() {
    const newest = findings.at(-1);
    if (newest) return {tone: "bad", word: newest.word, title: newest.title, line: newest.text};
    // To have noted a finding here does not end it: the server still has it.
    if (facts.kept > 0) return {tone: "bad", word: "Tampering found", title: "Tampering was found", line: `${facts.kept === 1 ? "A finding" : `${facts.kept} findings`} of a verification wait${facts.kept === 1 ? "s" : ""} for an administrator to acknowledge ${facts.kept === 1 ? "it" : "them"} with a reason.`};
    if (facts.server === "broken") return {tone: "bad", word: "Audit log is broken", title: "The audit log is broken", line: "The log in the database is not what was signed."};
    if (facts.checked === "unexplained") return {tone: "bad", word: "State not explained", title: "The audit log does not explain the state", line: "The server’s background check found what the audit log does not explain. “nagz audit reconcile” names it."};
    const heard = facts.lastAnswerAt ? `Last heard at ${clock(new Date(facts.lastAnswerAt))}; nothing is known of the time since.` : "It has not answered yet.";
    if (!facts.isReachable) return {tone: "open", word: "Server unreachable", title: "The server does not answer", line: `${facts.problem} ${heard}`.trim()};
    if (facts.lastAnswerAt && Date.now() - facts.lastAnswerAt > freshMilliseconds) return {tone: "open", word: "State is old", title: "The state shown is old", line: heard};
    if (facts.server === null) return {tone: "open", word: "Checking …", title: "Checking", line: ""};
    if (facts.server === "late") return {tone: "open", word: "Audit log is late", title: "The audit log is late", line: "Entries wait longer for a checkpoint than they should. An operator finds the reason in the server’s log."};
    if (facts.server === "off") return {tone: "open", word: "No log kept", title: "No log is kept", line: "This server signs no checkpoints."};
    if (facts.server !== "current") return {tone: "open", word: "State unknown", title: "The state is not known", line: `The server reports “${facts.server}”, which this page does not know. Load the page again.`};
    if (facts.signature === "unknown") return {tone: "open", word: "Not checked here", title: "Cannot be checked here", line: `The server says that the audit log is sealed. ${facts.signatureNote}`};
    if (facts.signature !== "good") return {tone: "open", word: "Checking …", title: "Checking", line: "The server says that the audit log is sealed."};
    const age = Date.now() - facts.head.time.getTime();
    if (age > checkpointMilliseconds) return {tone: "open", word: "Checkpoint is old", title: "The newest checkpoint is old", line: `It was signed ${Math.round(age / 60_000)} minutes ago by this browser’s clock, though the server says that all is well.`};
    return {tone: "good", word: "Audit log sealed", title: "The audit log is sealed", line: "The server says that every entry lies under a signed checkpoint. This browser has checked its signature, and that the log has only grown since it looked first."};
}

// MARK: findings

const place = () => `nagz.findings.${facts.origin}.${me()?.id}`;

/** Stores a finding: {id, word, title, text, href}. The same finding is stored once. */
export function reportFinding(finding) {
    findings = [...findings.filter((one) => one.id !== finding.id), {at: new Date().toISOString(), ...finding}];
    localStorage.setItem(place(), JSON.stringify(findings));
    notify();
}

/** How many findings the server keeps, as its newest answer says. */
export function updateKeptFindings(count) {
    facts.kept = count;
    notify();
}

/** Dismisses all findings of this browser. What holds now is known after the next round: to have noted a finding is no check. */
export function dismissFindings() {
    findings = [];
    localStorage.removeItem(place());
    facts.signature = null;
    notify();
    pollSoon();
}

function loadFindings() {
    try { findings = JSON.parse(localStorage.getItem(place()) || "[]"); } catch { findings = []; }
}

// MARK: requests

/** Starts with the status at sign-in and updates the state in each round. */
export function startTrust(status) {
    stopTrust();
    Object.assign(facts, {origin: status.origin ?? null, keys: status.keys, server: null, checked: status.check?.state ?? null, kept: status.findings ?? 0, signature: null, signatureNote: "", head: null, lastAnswerAt: null, isReachable: true, problem: ""});
    loadFindings();
    const before = facts.origin && !pinned(facts.origin) && otherLog(facts.origin);
    if (before) reportFinding({id: "origin", word: "Another log", title: "This is another log than before", text: `This address showed the log ${before} before. Now it shows ${facts.origin}, which this browser sees for the first time.`, href: "#/overview"});
    pin(facts.origin, facts.keys);
    updateServerState(status.state, status.fault);
    updateBackgroundCheck(status.check?.state, status.check?.first_finding);
    stopWatching = onPoll(pollServer);
    const clock = setInterval(notify, 5_000);
    const stopRounds = stopWatching;
    stopWatching = () => { stopRounds(); clearInterval(clock); };
    return status.checkpoint ? checkCheckpoint(status.checkpoint) : Promise.resolve();
}

export function stopTrust() {
    stopWatching();
    stopWatching = () => {};
}

function updateServerState(state, fault) {
    Object.assign(facts, {server: state, lastAnswerAt: Date.now(), isReachable: true, problem: ""});
    if (state === "broken") reportFinding({id: "server", word: "Audit log is broken", title: "The audit log is broken", text: fault || "The log in the database is not what was signed.", href: "#/overview"});
    else notify();
}

/** Evaluates the result of the server's background check, which compares the database with the entries. */
export function updateBackgroundCheck(state, finding) {
    facts.checked = state ?? facts.checked;
    if (state !== "unexplained" || (!finding && findings.some((one) => one.id === "state"))) return;
    reportFinding({id: "state", word: "State not explained", title: "The audit log does not explain the state", href: "#/overview",
        text: finding ? `The server’s background check: ${finding}` : "The server’s background check found what the audit log does not explain. “nagz audit reconcile” names it."});
}

/** Uses only requests without an account, because the others are audit entries if an administrator makes them. */
async function pollServer(signal) {
    try {
        const ready = await fetch("/health/ready", {cache: "no-store", signal});
        if (!ready.ok) throw new Error(`It answered ${ready.status}.`);
        const {audit_log: state, audit_state: checked, audit_findings: kept} = await ready.json();
        facts.kept = kept ?? 0;
        const note = state === "off" ? null : await fetch("/api/v1/audit/log/checkpoint", {cache: "no-store", signal});
        if (note && !note.ok && note.status !== 404) throw new Error(`It answered ${note.status}.`);
        updateServerState(state);
        updateBackgroundCheck(checked);
        if (note?.ok) await checkCheckpoint(await note.text());
    } catch (error) {
        if (signal.aborted && signal.reason?.name !== "TimeoutError") return;
        Object.assign(facts, {isReachable: false, problem: error.message?.startsWith("It answered") ? error.message : ""});
        notify();
    }
}

/** Verifies a checkpoint: its signature by a trusted key, and that the log has only grown since the last check. */
async function checkCheckpoint(note) {
    try {
        let seen = await checkpoint(note, facts.origin, facts.keys);
        // A new key may have been authorised meanwhile.
        if (!seen) seen = await checkpoint(note, facts.origin, await log.keys());
        if (!seen) return forged({id: "signature", word: "Forged checkpoint", title: "The checkpoint is not signed by a trusted key", text: "The newest checkpoint carries no signature of the key this browser has pinned.", href: "#/overview"});
        const complaint = await growthComplaint(seen);
        if (complaint) return forged({id: "history", word: "Log was rewritten", title: "The log was rewritten", text: complaint, href: "#/overview"});
        Object.assign(facts, {signature: "good", signatureNote: "", head: !facts.head || seen.size >= facts.head.size ? seen : facts.head});
    } catch (error) {
        if (!(error instanceof CannotCheck)) throw error;
        Object.assign(facts, {signature: "unknown", signatureNote: error.message});
    }
    notify();
}

/** Reports a finding about a checkpoint: no earlier one vouches for the log any more. */
function forged(finding) {
    facts.signature = null;
    reportFinding(finding);
}

/** Compares a signed checkpoint with the largest one stored. Returns an error text or null. Comparisons run one at a time, so that
    each checkpoint is compared before it is stored. */
function growthComplaint(seen) {
    const answer = comparing.then(() => compareWithHighest(seen));
    comparing = answer.catch(() => {});
    return answer;
}

async function compareWithHighest(seen) {
    const before = highest(facts.origin);
    if (before && seen.size !== before.size && seen.size > 0) {
        const known = {size: before.size, root: fromHex(before.root)};
        const [old, grown] = seen.size > known.size ? [known, seen] : [seen, known];
        const proof = await get("/audit/proof/consistency", {old: old.size, new: grown.size});
        if (!await isContinuation(old, grown, proof.path.map(fromHex))) return `The log of ${grown.size} entries does not begin with the ${old.size} entries ${old === known ? "this browser saw before" : "it is shown now"}.`;
    }
    return remember(facts.origin, seen);
}
