// The card with a chart of audit entries over time.
import {get} from "/console/api.js";
import {timeline} from "/console/charts.js";
import {failure, h, nothing, skeleton} from "/console/dom.js";
import {group} from "/console/kinds.js";
import {latest} from "/console/latest.js";
import {address} from "/console/router.js";
import {startOfDay, zoneName} from "/console/time.js";

/** Numbers of calendar days, including today. */
const spans = {"Today": 1, "7 days": 7, "30 days": 30, "90 days": 90};

export function showActivity(card, state) {
    const place = latest();
    const box = h("div", {}, skeleton(6));
    const choose = h("div", {class: "segments", role: "group", "aria-label": "Time"}, Object.keys(spans).map((name) =>
        h("button", {type: "button", "data-span": name, onclick: () => show(name)}, name)));
    card.replaceChildren(h("div", {class: "cardhead"}, h("h2", {}, "Activity by kind"), choose), box);
    function show(span) {
        for (const button of choose.children) button.setAttribute("aria-pressed", String(button.dataset.span === span));
        const [from, to] = [startOfDay(1 - spans[span]), startOfDay(1)];
        place.run((signal) => get("/audit/activity", {family_id: state.status.family_id, from: from.toISOString(), to: to.toISOString(), time_zone: zoneName()}, signal), (activity) => {
            box.replaceChildren(activity.series.length ? timeline(activity, group, (from, to) => { location.hash = address("trail", {from, to}); }) : nothing("There are no entries in this time."),
                ...(activity.is_partial ? [h("p", {class: "fine"}, "Only the newest 200,000 entries of this time are drawn.")] : []));
        }, (error) => box.replaceChildren(failure(error, () => show(span))));
    }
    show("30 days");
    return place.stop;
}
