// Charts as SVG, as wide as their container. Each has a table with the same figures for screen readers.
import {h, number, svg} from "/console/dom.js";
import {groupNames, groups} from "/console/kinds.js";
import {dayAndMonth, minute, monthAndYear, shortTime, zoneTitle} from "/console/time.js";

const margin = {left: 52, right: 10, top: 22, bottom: 44};
const height = 250;

const entries = (count) => (count === 1 ? "1 entry" : `${number(count)} entries`);

/** A round, even number that is not less than the value. */
function roundUp(value) {
    const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
    return Math.max(2, [1, 2, 4, 6, 8, 10].map((step) => step * power).find((step) => step >= value));
}

/** The maximum of the axis. A bar that would make the others too small is cut off and marked. */
function axisEnd(totals) {
    const sorted = totals.filter(Boolean).sort((left, right) => left - right);
    const most = sorted.at(-1) ?? 0;
    const usual = sorted[Math.floor(sorted.length * 0.8)] ?? 0;
    return roundUp(sorted.length > 4 && most > 5 * usual ? usual * 1.5 : most);
}

/** Stacked bars over time. `activity` is the API's response, grouped; a click on a bar reports its period. */
export function timeline(activity, groupOf, onPick) {
    const {starts, unit} = activity;
    const count = starts.length;
    const sums = Object.fromEntries(groups.map((name) => [name, new Array(count).fill(0)]));
    for (const {kind, counts} of activity.series) counts.forEach((value, index) => { if (index < count) sums[groupOf(kind)][index] += value; });
    const totals = starts.map((_, index) => groups.reduce((sum, name) => sum + sums[name][index], 0));
    const top = axisEnd(totals);
    const cut = totals.filter((total) => total > top).length;
    const endOf = (index) => starts[index + 1] ?? activity.to;
    const label = (index) => ({minute, hour: minute, day: dayAndMonth, week: dayAndMonth, month: monthAndYear})[unit](new Date(starts[index]));
    const title = (index) => (unit === "day" ? dayAndMonth(new Date(starts[index])) : unit === "week" ? `Week from ${label(index)}` : unit === "month" ? label(index) : shortTime(starts[index]));
    // The chart is one tab stop; the arrow keys move between bars.
    const lastUsed = totals.findLastIndex(Boolean);
    const move = (bar, way) => {
        const other = bar[way];
        if (!other?.classList.contains("bar")) return;
        bar.setAttribute("tabindex", -1);
        other.setAttribute("tabindex", 0);
        other.focus();
    };
    const tip = h("div", {class: "tip", hidden: true});
    const box = h("div", {class: "plotbox"});

    function draw(width) {
        const [plotWidth, plotHeight] = [width - margin.left - margin.right, height - margin.top - margin.bottom];
        const step = plotWidth / count;
        const y = (value) => margin.top + plotHeight * (1 - Math.min(value, top) / top);
        const x = (index) => margin.left + index * step;
        const bars = starts.map((_, index) => {
            let below = 0;
            const parts = [];
            for (const name of groups) {
                const value = Math.min(sums[name][index], Math.max(0, top - below));
                if (value <= 0) continue;
                parts.push(svg("rect", {x: x(index) + step * 0.12, y: y(below + value), width: Math.max(step * 0.76, 0.5), height: Math.max(y(below) - y(below + value), 0.5), class: `f-${name}`}));
                below += sums[name][index];
            }
            if (totals[index] > top) parts.push(...cutMark(x(index), step, totals[index], width, cut));
            const show = () => {
                tip.hidden = false;
                tip.replaceChildren(h("strong", {}, title(index)), h("span", {}, entries(totals[index])),
                    ...groups.filter((name) => sums[name][index]).map((name) => h("span", {class: "tiprow"}, h("i", {class: `b-${name}`}), `${groupNames[name]} ${number(sums[name][index])}`)));
                const half = tip.offsetWidth / 2;
                tip.style.left = `${Math.min(Math.max(x(index) + step / 2, half), width - half)}px`;
            };
            const hide = () => { tip.hidden = true; };
            const pick = () => onPick?.(starts[index], endOf(index));
            return svg("g", {class: "bar", role: "button", tabindex: index === lastUsed ? 0 : -1, "aria-label": `${title(index)}: ${entries(totals[index])}`,
                onmouseenter: show, onfocus: show, onmouseleave: hide, onblur: hide, onclick: pick,
                onkeydown: (event) => {
                    if (["Enter", " ", "ArrowLeft", "ArrowRight"].includes(event.key)) event.preventDefault();
                    if (event.key === "Enter" || event.key === " ") pick();
                    else if (event.key === "ArrowLeft") move(event.currentTarget, "previousElementSibling");
                    else if (event.key === "ArrowRight") move(event.currentTarget, "nextElementSibling");
                }},
                svg("rect", {x: x(index), y: margin.top, width: step, height: plotHeight, class: "hit"}), parts);
        });
        const every = Math.max(1, Math.ceil(count / Math.max(2, Math.floor(plotWidth / 74))));
        const ticks = starts.map((_, index) => index).filter((index) => index % every === 0 && x(index) < width - margin.right - 20)
            .map((index) => svg("text", {x: x(index) + step / 2, y: height - margin.bottom + 17, "text-anchor": "middle", class: "tick"}, label(index)));
        const lines = [0, top / 2, top].map((value) => [svg("line", {x1: margin.left, x2: width - margin.right, y1: y(value), y2: y(value), class: value ? "grid" : "axis"}),
            svg("text", {x: margin.left - 7, y: y(value) + 4, "text-anchor": "end", class: "tick"}, number(value))]);
        box.replaceChildren(svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, class: "plot", role: "group", "aria-label": `Entries per ${unit}`},
            lines, svg("g", {}, bars), ticks,
            svg("text", {x: 2, y: 12, class: "axisname"}, `Entries per ${unit}`),
            svg("text", {x: width - margin.right, y: height - 6, "text-anchor": "end", class: "axisname"}, `${unit === "hour" || unit === "minute" ? "Time" : "Date"}, ${zoneTitle()}`)), tip);
    }

    let drawn = 0;
    new ResizeObserver(([{contentRect: {width}}]) => {
        if (width < 120 || Math.abs(width - drawn) < 1) return;
        drawn = width;
        draw(width);
    }).observe(box);
    const used = groups.filter((name) => sums[name].some(Boolean));
    return h("div", {class: "timeline"}, box,
        cut > 0 && h("p", {class: "fine"}, `${cut === 1 ? "One bar is" : `${cut} bars are`} cut at ${number(top)} so that the others can be read.`),
        h("ul", {class: "legend"}, used.map((name) => h("li", {}, h("i", {class: `b-${name}`, "aria-hidden": "true"}), groupNames[name],
            h("b", {}, number(sums[name].reduce((sum, value) => sum + value, 0)))))),
        h("details", {class: "figures"}, h("summary", {}, "The same as a table"), h("div", {class: "scroller", tabindex: "0", role: "region", "aria-label": "Entries as a table"}, h("table", {},
            h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "From"), h("th", {scope: "col"}, "All"), used.map((name) => h("th", {scope: "col"}, groupNames[name])))),
            h("tbody", {}, totals.map((total, index) => total > 0 && h("tr", {}, h("th", {scope: "row"}, onPick ? h("button", {type: "button", class: "small", onclick: () => onPick(starts[index], endOf(index))}, title(index)) : title(index)), h("td", {}, number(total)),
                used.map((name) => h("td", {}, number(sums[name][index]))))))))));
}

/** A break across a cut bar, with the bar's value above it. */
function cutMark(left, step, total, width, cut) {
    const [from, to, at] = [left + step * 0.06, left + step * 0.94, margin.top + 9];
    const mark = svg("path", {d: `M${from},${at + 4} L${(from + to) / 2},${at - 3} L${to},${at + 4}`, class: "cut"});
    if (cut > 3) return [mark];
    const middle = Math.min(Math.max(left + step / 2, margin.left + 14), width - margin.right - 18);
    return [mark, svg("text", {x: middle, y: margin.top - 5, "text-anchor": "middle", class: "cutlabel"}, `▲ ${number(total)}`)];
}

/** A sparkline. */
export function sparkline(values) {
    const [width, tall] = [120, 34];
    const shape = {viewBox: `0 0 ${width} ${tall}`, class: "spark", "aria-hidden": "true", preserveAspectRatio: "none"};
    if (!values || values.length < 2) return svg("svg", shape);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const points = values.map((value, index) => `${(index / (values.length - 1) * width).toFixed(1)},${(tall - 3 - (high > low ? (value - low) / (high - low) : 0.5) * (tall - 6)).toFixed(1)}`);
    return svg("svg", shape, svg("path", {d: `M0,${tall} L${points.join(" L")} L${width},${tall} Z`, class: "area"}), svg("polyline", {points: points.join(" "), class: "line"}));
}
