// The overview: the audit log's status, recent activity and server metrics.
import {showActivity} from "/console/activity.js";
import {get} from "/console/api.js";
import {sparkline} from "/console/charts.js";
import {h, number, skeleton} from "/console/dom.js";
import {showHealth} from "/console/health.js";
import {onPoll, pollSoon} from "/console/poll.js";

export function overview(main, state) {
    const health = h("section", {class: "card health", "aria-label": "Health of the audit log"});
    const plot = h("section", {class: "card", "aria-label": "Activity"});
    const metrics = h("section", {class: "tiles", "aria-label": "Server"}, skeleton(2));
    main.append(h("div", {class: "pagehead"}, h("h1", {}, "Overview"), h("p", {class: "muted"}, state.status.reader === "admin" ? "All families' audit logs" : h("bdi", {}, state.familyName || "Your family"))),
        health, plot, h("h2", {}, "Server, live"), metrics);
    const ends = [showHealth(health, state), showActivity(plot, state), onPoll((signal) => showMetrics(metrics, signal))];
    pollSoon();
    return {update() {}, leave() { for (const end of ends) end(); }};
}

async function showMetrics(box, signal) {
    try {
        const {metrics} = await get("/metrics", {}, signal);
        box.classList.remove("stale");
        box.replaceChildren(...metrics.map((metric) => {
            const isBad = (metric.warn_above ?? Infinity) < metric.value || (metric.warn_below ?? -Infinity) > metric.value;
            return h("div", {class: `card tile${isBad ? " warn" : ""}`}, h("span", {class: "muted"}, metric.label),
                h("strong", {}, number(Math.round(metric.value * 10) / 10), h("small", {}, ` ${metric.unit}`)), sparkline(metric.sparkline_history));
        }));
    } catch {
        if (signal.aborted && signal.reason?.name !== "TimeoutError") return;
        if (box.querySelector(".tile")) box.classList.add("stale");
        else box.replaceChildren(h("p", {class: "muted"}, "No figures."));
    }
}
