// The card with the audit log's status: the seal, the findings and the figures.
import {get} from "/console/api.js";
import {toHex} from "/console/bytes.js";
import {copyable, h, icon, number} from "/console/dom.js";
import {keptFindings} from "/console/keptfindings.js";
import {latest} from "/console/latest.js";
import {pinned} from "/console/notes.js";
import {address} from "/console/router.js";
import {ago, time} from "/console/time.js";
import {onPoll} from "/console/poll.js";
import {allFindings, head, kept, lastAnswerAt, updateBackgroundCheck, updateKeptFindings, log, onTrust, dismissFindings, signature, trust} from "/console/trust.js";

const seals = {good: "check", bad: "cross", open: "wait"};

/** Fills the card and keeps it up to date; the returned function stops that. */
export function showHealth(card, state) {
    let {status} = state;
    const place = latest();
    const seal = h("div", {});
    const [title, line, found] = [h("h2", {}), h("p", {}), h("div", {class: "findings"})];
    const facts = h("dl", {class: "facts"});
    const keptBox = h("div", {class: "findings", tabindex: "-1", role: "group", "aria-label": "Findings to be acknowledged"});
    // Only administrators may read them: a finding may be of any family.
    const list = status.reader === "admin" ? keptFindings(keptBox) : {show() {}, stop() {}};
    const result = h("div", {class: "verdict", role: "status", "aria-live": "polite"});
    const button = h("button", {class: "primary", type: "button", onclick: verify}, "Verify the whole audit log");
    const fact = (name, ...value) => h("div", {}, h("dt", {}, name), h("dd", {}, ...value));
    card.replaceChildren(seal, h("div", {class: "healthtext"}, title, line, found, keptBox, h("div", {class: "actions"}, button, h("a", {class: "button", href: "#/trail"}, "Read the audit log")), result), facts);

    function verify() {
        button.disabled = true;
        button.textContent = "Checking every entry …";
        result.className = "verdict";
        result.replaceChildren();
        const done = () => {
            button.disabled = false;
            button.textContent = "Verify the whole audit log";
        };
        place.run((signal) => get("/audit/verify", {family_id: status.family_id}, signal), (answer) => {
            done();
            showAnswer(result, answer);
        }, (error) => {
            done();
            result.className = "verdict open";
            result.replaceChildren(icon("wait"), h("div", {}, h("strong", {}, "The audit log could not be checked"), h("p", {}, error.message)));
        });
    }

    const showState = (now) => {
        seal.className = `seal ${now.tone}`;
        seal.replaceChildren(icon("shield"), icon(seals[now.tone]));
        title.textContent = now.title;
        line.textContent = now.line;
        line.hidden = allFindings().length > 0;
        showFindings(found);
        list.show(kept());
        const newest = head();
        const {state: signed, note} = signature();
        facts.replaceChildren(
            fact("Log", status.origin || "–"), fact("Entries in the log", newest ? number(newest.size) : status.size === null ? "–" : number(status.size)),
            fact("Last checkpoint", newest ? [time(newest.time.toISOString()), h("span", {class: "muted"}, ` ${ago(newest.time)}`)] : status.checkpoint_at ? time(status.checkpoint_at) : "–"),
            fact("Last answer", lastAnswerAt() ? time(new Date(lastAnswerAt()).toISOString()) : "–"),
            fact("Signature", signed === "good" ? h("span", {class: "goodtext"}, icon("check"), " by the pinned key, checked here") : signed === "unknown" ? h("span", {class: "opentext"}, note) : "not checked yet"),
            fact("Exposure", `${number(status.exposure_ms)} ms`, h("span", {class: "muted"}, " of 5 s")),
            ...(status.check ? [fact("Background check", ...checkText(status.check))] : []),
            // Of the size above it: a witness is asked about both.
            fact("Root", newest ? copyable(toHex(newest.root)) : status.root ? copyable(status.root) : "–"),
            fact("Pinned key", log.origin && pinned(log.origin) ? [copyable(pinned(log.origin)), h("small", {class: "muted"}, "The first this browser saw. Compare it with “nagz audit keys”.")] : "–"));
    };
    const stop = onTrust(showState);
    const refresh = async (signal) => {
        status = state.status = await get("/audit/status", {}, signal);
        updateBackgroundCheck(status.check?.state, status.check?.first_finding);
        updateKeptFindings(status.findings);
        showState(trust());
    };
    const stopRounds = onPoll(refresh);
    return () => {
        stop();
        stopRounds();
        list.stop();
        place.stop();
    };
}

/** The status of the server's background check. */
function checkText(check) {
    const of = (entries, families) => `${number(entries)} entries of ${families === 1 ? "1 family" : `${number(families)} families`}`;
    const last = check.last_finished_at && `${of(check.last_entries, check.last_families)} ${ago(check.last_finished_at)}: `;
    const found = check.last_findings ? h("span", {class: "problemtext"}, `${number(check.last_findings)} not explained`) : "all explained";
    const now = check.started_at && `Under way: ${of(check.entries, check.families)} so far${check.findings ? `, ${number(check.findings)} not explained` : ""}.`;
    return [last && h("div", {}, last, found), now && h("div", {class: "muted"}, now), last || now ? null : check.state];
}

/** The findings that the user has not dismissed. */
function showFindings(box) {
    const all = allFindings();
    if (box.dataset.shown === JSON.stringify(all)) return;
    box.dataset.shown = JSON.stringify(all);
    if (!all.length) return box.replaceChildren();
    box.replaceChildren(h("ul", {}, all.slice(-5).reverse().map((one) => h("li", {}, time(one.at), " ", one.text, " ", one.href?.includes("open=") && h("a", {href: one.href}, "Open the entry")))),
        h("button", {type: "button", class: "small", onclick: dismissFindings}, all.length === 1 ? "I have noted this finding" : `I have noted these ${all.length} findings`));
}

function showAnswer(box, answer) {
    const state = {sound: "good", tampered: "bad", incomplete: "open"}[answer.verdict] ?? "open";
    const href = answer.n && address("trail", {family_id: answer.family_id, open: `${answer.family_id}/${answer.n}`});
    box.className = `verdict ${state}`;
    box.replaceChildren(icon(seals[state]), h("div", {},
        h("strong", {}, state === "good" ? `Sound: ${number(answer.entries)} entries checked by the server` : state === "bad" ? "Tampered with" : "Incomplete"),
        h("p", {}, answer.message || `in ${number(answer.ms)} ms, up to log size ${number(answer.size || 0)}`), href && h("a", {href}, `Open entry ${answer.n}`)));
    // The server keeps it, for every console, until somebody acknowledges it.
    if (state === "bad") updateKeptFindings(Math.max(kept(), 1));
}
