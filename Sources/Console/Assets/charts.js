// Plots, drawn as SVG. Each has a table of the same figures for whoever does not see it.
import {groupNames, groups, h, number, shortTime, svg} from "/console/dom.js";

/** Stacked bars over time: `activity` as the API answers it, grouped; a click on a bar gives its time. */
export function timeline(activity, groupOf, onPick) {
    const buckets = Math.max(1, Math.round((new Date(activity.to) - new Date(activity.from)) / 1000 / activity.bucket_seconds));
    const sums = Object.fromEntries(groups.map((name) => [name, new Array(buckets).fill(0)]));
    for (const {kind, counts} of activity.series) counts.forEach((count, index) => { if (index < buckets) sums[groupOf(kind)][index] += count; });
    const totals = Array.from({length: buckets}, (_, index) => groups.reduce((sum, name) => sum + sums[name][index], 0));
    const most = Math.max(1, ...totals);
    const [width, height, bottom] = [960, 190, 22];
    const step = width / buckets;
    const start = (index) => new Date(new Date(activity.from).getTime() + index * activity.bucket_seconds * 1000).toISOString();
    const tip = h("div", {class: "tip", hidden: true});
    const bars = [];
    for (let index = 0; index < buckets; index += 1) {
        let top = height - bottom;
        const parts = [];
        for (const name of groups) {
            const tall = sums[name][index] / most * (height - bottom - 8);
            if (tall <= 0) continue;
            top -= tall;
            parts.push(svg("rect", {x: index * step + step * 0.12, y: top, width: step * 0.76, height: Math.max(tall, 1), rx: 1.5, class: `f-${name}`}));
        }
        const show = (event) => {
            tip.hidden = false;
            tip.replaceChildren(h("strong", {}, shortTime(start(index))), h("span", {}, `${number(totals[index])} entries`),
                ...groups.filter((name) => sums[name][index]).map((name) => h("span", {class: "tiprow"}, h("i", {class: `b-${name}`}), `${groupNames[name]} ${number(sums[name][index])}`)));
            const box = event.currentTarget.ownerSVGElement.getBoundingClientRect();
            const share = (index + 0.5) / buckets;
            tip.style.left = `${Math.min(Math.max(share * box.width, 70), box.width - 90)}px`;
        };
        bars.push(svg("g", {class: "bar", role: "button", tabindex: totals[index] ? 0 : -1, "aria-label": `${shortTime(start(index))}: ${totals[index]} entries`,
            onmouseenter: show, onfocus: show, onmouseleave: () => { tip.hidden = true; }, onblur: () => { tip.hidden = true; },
            onclick: () => onPick?.(start(index), start(index + 1)), onkeydown: (event) => { if (event.key === "Enter") onPick?.(start(index), start(index + 1)); }},
            svg("rect", {x: index * step, y: 0, width: step, height: height - bottom, class: "hit"}), parts));
    }
    const ticks = Array.from({length: 5}, (_, index) => {
        const place = Math.round(index * (buckets - 1) / 4);
        return svg("text", {x: Math.min(Math.max(place * step, 2), width - 2), y: height - 5, "text-anchor": index === 0 ? "start" : index === 4 ? "end" : "middle", class: "tick"}, shortTime(start(place)));
    });
    const plot = svg("svg", {viewBox: `0 0 ${width} ${height}`, class: "plot", role: "group", "aria-label": "Entries over time"},
        [0.5, 1].map((share) => svg("line", {x1: 0, x2: width, y1: height - bottom - share * (height - bottom - 8), y2: height - bottom - share * (height - bottom - 8), class: "grid"})),
        svg("text", {x: 2, y: 14, class: "tick"}, number(most)), bars, ticks);
    const used = groups.filter((name) => sums[name].some(Boolean));
    return h("div", {class: "timeline"}, h("div", {class: "plotbox"}, plot, tip),
        h("ul", {class: "legend"}, used.map((name) => h("li", {}, h("i", {class: `b-${name}`, "aria-hidden": "true"}), groupNames[name],
            h("b", {}, number(sums[name].reduce((sum, count) => sum + count, 0)))))),
        h("details", {class: "figures"}, h("summary", {}, "The same as a table"), h("table", {},
            h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "From"), used.map((name) => h("th", {scope: "col"}, groupNames[name])))),
            h("tbody", {}, totals.map((total, index) => total > 0 && h("tr", {}, h("th", {scope: "row"}, shortTime(start(index))),
                used.map((name) => h("td", {}, number(sums[name][index])))))))));
}

/** A small curve. */
export function sparkline(values) {
    const [width, height] = [120, 34];
    if (!values || values.length < 2) return svg("svg", {viewBox: `0 0 ${width} ${height}`, class: "spark", "aria-hidden": "true"});
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const points = values.map((value, index) => `${(index / (values.length - 1) * width).toFixed(1)},${(height - 3 - (high > low ? (value - low) / (high - low) : 0.5) * (height - 6)).toFixed(1)}`);
    return svg("svg", {viewBox: `0 0 ${width} ${height}`, class: "spark", "aria-hidden": "true", preserveAspectRatio: "none"},
        svg("path", {d: `M0,${height} L${points.join(" L")} L${width},${height} Z`, class: "area"}), svg("polyline", {points: points.join(" "), class: "line"}));
}
