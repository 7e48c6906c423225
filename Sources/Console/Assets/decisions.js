// What the AI decided: by which rule, on which route, how fast, and why it fell back where it did.
import {entries} from "/console/api.js";
import {openDetail} from "/console/detail.js";
import {failure, familyName, h, number, person, skeleton, time} from "/console/dom.js";

const operations = {select_tone: "Tone", coaching: "Coaching", summarize_excuse: "Excuse summary", patterns: "Patterns", digest: "Digest", predict_completion: "Prediction", push_back: "Push-back"};

export function decisions(main, state, params) {
    const chosen = params.get("operation") || "";
    const drawer = h("aside", {class: "drawer", role: "dialog", "aria-label": "Entry", hidden: true});
    const figures = h("section", {class: "tiles", "aria-label": "Figures"});
    const list = h("div", {class: "cards"}, skeleton(6));
    const more = h("button", {type: "button", class: "button", hidden: true}, "More");
    main.append(h("div", {class: "pagehead"}, h("h1", {}, "AI decisions"), h("p", {class: "muted"}, "Each answer with what it rests on. Texts are never kept: only their length and digest.")),
        h("div", {class: "segments", role: "group", "aria-label": "Operation"}, [["", "All"], ...Object.entries(operations)].map(([name, title]) =>
            h("a", {href: `#/decisions${name ? `?operation=${name}` : ""}`, "aria-current": name === chosen ? "true" : null}, title))),
        figures, list, h("p", {class: "more"}, more), drawer);
    const seen = [];
    let cursor = "";
    async function load() {
        more.disabled = true;
        try {
            const page = await entries({family_id: state.status.family_id, q: chosen ? undefined : "ai.", kind: chosen ? `ai.${chosen}` : undefined, cursor, limit: 60});
            if (!list.isConnected) return;
            if (!cursor) list.replaceChildren();
            seen.push(...page.items);
            list.append(...page.items.map((entry) => card(entry, state, drawer)));
            if (!seen.length) list.replaceChildren(h("div", {class: "empty"}, h("p", {}, "The AI has decided nothing here yet.")));
            cursor = page.next_cursor;
            more.hidden = !cursor;
            showFigures(figures, seen);
        } catch (error) {
            list.replaceChildren(failure(error, load));
        }
        more.disabled = false;
    }
    more.addEventListener("click", load);
    load();
}

function card(entry, state, drawer) {
    const details = entry.details || {};
    const operation = details.operation || entry.kind.slice(3);
    const isFallback = details.used_fallback === "true";
    const fact = (name, value) => value && h("span", {class: "fact"}, h("span", {class: "muted"}, name), value);
    const open = () => openDetail(drawer, state, entry.family_id, entry.n, () => button.focus());
    const button = h("button", {type: "button", class: "button small", onclick: open}, "Open and verify");
    return h("article", {class: "card decision"},
        h("header", {}, h("h3", {}, operations[operation] || operation.replaceAll("_", " ")), time(entry.at)),
        h("p", {class: "rule"}, h("b", {}, (details.output || "decided").replaceAll("_", " ")), details.rule && h("span", {}, " by rule ", h("code", {}, details.rule))),
        h("div", {class: "factrow"}, fact("for", person(entry.subject || entry.actor, entry.subject_id)), fact("route", details.route), fact("provider", details.provider),
            fact("latency", details.latency_us && `${(details.latency_us / 1000).toFixed(1)} ms`), details.constraint && fact("constraint", details.constraint),
            isFallback ? h("span", {class: "badge warn"}, `fallback: ${(details.fallback_reason || "used").replaceAll("_", " ")}`) : h("span", {class: "badge"}, "no fallback"),
            state.status.reader === "admin" && fact("in", familyName(entry.family_id))),
        h("footer", {}, button, h("a", {class: "button small", href: `#/trail?trace_id=${entry.trace_id}`}, "Follow the trace")));
}

function showFigures(box, seen) {
    const latencies = seen.map((entry) => Number(entry.details?.latency_us) / 1000).filter((value) => value > 0).sort((left, right) => left - right);
    const at = (share) => (latencies.length ? `${latencies[Math.min(latencies.length - 1, Math.floor(share * latencies.length))].toFixed(1)} ms` : "–");
    const fallbacks = seen.filter((entry) => entry.details?.used_fallback === "true").length;
    const rules = new Map();
    for (const entry of seen) if (entry.details?.rule) rules.set(entry.details.rule, (rules.get(entry.details.rule) || 0) + 1);
    const top = [...rules].sort((left, right) => right[1] - left[1])[0];
    const tile = (title, value, note) => h("div", {class: "card tile"}, h("span", {class: "muted"}, title), h("strong", {}, value), h("small", {class: "muted"}, note));
    box.replaceChildren(tile("Decisions shown", number(seen.length), "newest first"), tile("Median latency", at(0.5), `slowest tenth from ${at(0.9)}`),
        tile("Fallbacks", number(fallbacks), seen.length ? `${Math.round(fallbacks / seen.length * 100)} % of them` : ""), tile("Most used rule", top ? String(top[1]) : "–", top ? top[0] : ""));
}
