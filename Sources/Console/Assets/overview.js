// Whether the trail is well, what happened lately, and how the server is doing.
import {get} from "/console/api.js";
import {sparkline, timeline} from "/console/charts.js";
import {ago, copyable, failure, group, h, icon, number, skeleton, time} from "/console/dom.js";
import {checkpoint, pinned, remember} from "/console/proof.js";

const spans = {"24 hours": 1, "7 days": 7, "30 days": 30, "90 days": 90};

export function overview(main, state) {
    const health = h("section", {class: "card health", "aria-label": "Health of the trail"}, skeleton(3));
    const plot = h("section", {class: "card", "aria-label": "Activity"}, skeleton(4));
    const metrics = h("section", {class: "tiles", "aria-label": "Server"});
    main.append(h("div", {class: "pagehead"}, h("h1", {}, "Overview"), h("p", {class: "muted"}, state.status.reader === "admin"
        ? `${number(state.families.length)} trails, newest first` : state.families[0]?.name || "Your family")),
        health, plot, h("h2", {}, "Server, live"), metrics);
    showHealth(health, state);
    showActivity(plot, state, "30 days");
    let isOver = false;
    const live = async () => {
        if (isOver) return;
        if (!document.hidden) await showMetrics(metrics);
        setTimeout(live, 5000);
    };
    live();
    return () => { isOver = true; };
}

async function showHealth(card, state) {
    const {status} = state;
    const words = {
        current: ["The trail is sealed", "Every entry lies under a signed checkpoint."], late: ["The trail is late", "Entries wait longer for a checkpoint than they should."],
        broken: ["The trail is broken", status.fault || "The log in the database is not what was signed."], off: ["No log is kept", "This server signs no checkpoints."],
    };
    const [title, line] = words[status.state] || ["Unknown", ""];
    const isGood = status.state === "current";
    const signature = h("span", {class: "muted"}, "checking …");
    const result = h("div", {class: "verdict", role: "status", "aria-live": "polite"});
    const button = h("button", {class: "primary", type: "button", onclick: async () => {
        button.disabled = true;
        button.textContent = "Checking every entry …";
        result.className = "verdict";
        try {
            const answer = await get("/audit/verify", {family_id: status.family_id});
            result.className = `verdict ${answer.verdict === "sound" ? "good" : answer.verdict === "tampered" ? "bad" : "open"}`;
            result.replaceChildren(icon(answer.verdict === "sound" ? "check" : "cross"), h("div", {},
                h("strong", {}, answer.verdict === "sound" ? `Sound: ${number(answer.entries)} entries checked` : answer.verdict === "tampered" ? "Tampered with" : "Incomplete"),
                h("p", {}, answer.message || `in ${number(answer.ms)} ms, up to log size ${number(answer.size || 0)}`),
                answer.n && h("a", {href: `#/trail?family_id=${answer.family_id}&open=${answer.n}`}, `Open entry ${answer.n}`)));
        } catch (error) {
            result.className = "verdict bad";
            result.replaceChildren(icon("cross"), h("div", {}, error.message));
        } finally {
            button.disabled = false;
            button.textContent = "Verify the whole trail";
        }
    }}, "Verify the whole trail");
    const fact = (name, ...value) => h("div", {}, h("dt", {}, name), h("dd", {}, ...value));
    card.replaceChildren(
        h("div", {class: `seal ${isGood ? "good" : "bad"}`}, icon("shield"), icon(isGood ? "check" : "cross")),
        h("div", {class: "healthtext"}, h("h2", {}, title), h("p", {}, line), h("div", {class: "actions"}, button,
            h("a", {class: "button", href: "#/trail"}, "Read the trail")), result),
        h("dl", {class: "facts"},
            fact("Log", status.origin || "–"), fact("Entries in the log", status.size === null ? "–" : number(status.size)),
            fact("Last checkpoint", status.checkpoint_at ? [time(status.checkpoint_at), h("span", {class: "muted"}, ` ${ago(status.checkpoint_at)}`)] : "–"),
            fact("Exposure now", `${number(status.exposure_ms)} ms`, h("span", {class: "muted"}, " of 5 s")),
            fact("Signature", signature), fact("Root", status.root ? copyable(status.root) : "–"),
            fact("Pinned key", status.origin && pinned(status.origin) ? copyable(pinned(status.origin)) : "–")));
    if (!status.checkpoint) return signature.replaceChildren("there is no checkpoint yet");
    try {
        const seen = await checkpoint(status.checkpoint, status.origin, status.keys);
        const complaint = seen && remember(status.origin, seen);
        signature.className = seen && !complaint ? "goodtext" : "badtext";
        signature.replaceChildren(icon(seen && !complaint ? "check" : "cross"), complaint || (seen ? "by the pinned key, checked here" : "not by a key this browser trusts"));
    } catch {
        signature.replaceChildren("this browser cannot check Ed25519");
    }
}

async function showActivity(card, state, span) {
    const to = new Date(Math.ceil(Date.now() / 1000) * 1000);
    const from = new Date(to - spans[span] * 86_400_000);
    const choose = h("div", {class: "segments", role: "group", "aria-label": "Time"}, Object.keys(spans).map((name) =>
        h("button", {type: "button", "aria-pressed": String(name === span), onclick: () => showActivity(card, state, name)}, name)));
    const head = h("div", {class: "cardhead"}, h("h2", {}, "Activity by kind"), choose);
    try {
        const activity = await get("/audit/activity", {family_id: state.status.family_id, from: from.toISOString(), to: to.toISOString()});
        card.replaceChildren(head, activity.series.length
            ? timeline(activity, group, (start, end) => { location.hash = `#/trail?from=${encodeURIComponent(start)}&to=${encodeURIComponent(end)}`; })
            : h("div", {class: "empty"}, h("p", {}, "Nothing happened in this time.")),
            ...(activity.is_partial ? [h("p", {class: "fine"}, "Only the newest 200,000 entries of this time are drawn.")] : []));
    } catch (error) {
        card.replaceChildren(head, failure(error, () => showActivity(card, state, span)));
    }
}

async function showMetrics(box) {
    try {
        const {metrics} = await get("/metrics");
        box.replaceChildren(...metrics.map((metric) => {
            const isBad = (metric.warn_above !== null && metric.warn_above !== undefined && metric.value > metric.warn_above)
                || (metric.warn_below !== null && metric.warn_below !== undefined && metric.value < metric.warn_below);
            return h("div", {class: `card tile${isBad ? " warn" : ""}`}, h("span", {class: "muted"}, metric.label),
                h("strong", {}, number(Math.round(metric.value * 10) / 10), h("small", {}, ` ${metric.unit}`)), sparkline(metric.sparkline_history));
        }));
    } catch {
        if (!box.children.length) box.append(h("p", {class: "muted"}, "No figures."));
    }
}
