// The overview: the audit log's status, recent activity, and figures: the server's for an administrator, the family's for a guardian.
import {showActivity} from "/console/activity.js";
import {get} from "/console/api.js";
import {sparkline} from "/console/charts.js";
import {h, number, skeleton} from "/console/dom.js";
import {showHealth} from "/console/health.js";
import {onPoll, pollSoon} from "/console/poll.js";
import {startOfDay} from "/console/time.js";

export function overview(main, state) {
    const isAdmin = state.status.reader === "admin";
    const health = h("section", {class: "card health", "aria-label": "Health of the audit log"});
    const plot = h("section", {class: "card", "aria-label": "Activity"});
    const title = isAdmin ? "Server, live" : "Nags of the family";
    const figures = h("section", {class: "tiles", "aria-label": title}, skeleton(2));
    main.append(h("div", {class: "pagehead"}, h("h1", {}, "Overview"), h("p", {class: "muted"}, isAdmin ? "All families' audit logs" : h("bdi", {}, state.familyName || "Your family"))),
        health, plot, h("h2", {}, title), figures);
    const load = isAdmin ? serverTiles : (signal) => familyTiles(state.status.family_id, signal);
    const ends = [showHealth(health, state), showActivity(plot, state), onPoll((signal) => showFigures(figures, load, signal))];
    pollSoon();
    return {update() {}, leave() { for (const end of ends) end(); }};
}

/** Shows the tiles that `load` returns; when they cannot be had, the ones before stay, marked as old. */
async function showFigures(box, load, signal) {
    try {
        const tiles = await load(signal);
        box.classList.remove("stale");
        box.replaceChildren(...tiles);
    } catch {
        if (signal.aborted && signal.reason?.name !== "TimeoutError") return;
        if (box.querySelector(".tile")) box.classList.add("stale");
        else box.replaceChildren(h("p", {class: "muted"}, "The figures cannot be loaded. The next try is in ten seconds."));
    }
}

const tile = (label, value, unit, ...more) => h("div", {class: "card tile"}, h("span", {class: "muted"}, label), h("strong", {}, value, h("small", {}, unit && ` ${unit}`)), ...more);

async function serverTiles(signal) {
    const {metrics} = await get("/metrics", {}, signal);
    return metrics.map((metric) => {
        const one = tile(metric.label, number(Math.round(metric.value * 10) / 10), metric.unit, sparkline(metric.sparkline_history));
        one.classList.toggle("warn", (metric.warn_above ?? Infinity) < metric.value || (metric.warn_below ?? -Infinity) > metric.value);
        return one;
    });
}

async function familyTiles(family, signal) {
    const [open, week] = await Promise.all([
        get("/nags", {family_id: family, state: "open", limit: 1}, signal),
        get("/reports/family/metrics", {family_id: family, from_date: startOfDay(-6).toISOString(), to_date: new Date().toISOString()}, signal),
    ]);
    return [tile("Open now", number(open.total)), tile("Done, last 7 days", number(week.completed)), tile("Missed, last 7 days", number(week.missed)),
        tile("Done of those due, last 7 days", week.total_nags ? String(Math.round(week.completion_rate * 100)) : "–", week.total_nags ? "%" : "")];
}
