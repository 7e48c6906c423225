// AI decisions: the rule, the route, the duration, and the reason of a fallback.
import {places, plain} from "/console/aiwords.js";
import {entries} from "/console/api.js";
import {failure, h, nothing, number, skeleton, tenths} from "/console/dom.js";
import {allKinds} from "/console/kinds.js";
import {latest} from "/console/latest.js";
import {family, loadPeopleOnce, person} from "/console/people.js";
import {address, openEntry} from "/console/router.js";
import {time} from "/console/time.js";

const titles = {select_tone: "Tone", coaching: "Coaching", summarize_excuse: "Excuse summary", patterns: "Patterns", digest: "Digest", predict_completion: "Prediction", push_back: "Push-back", ask_coach: "Own question", intent: "Nag from words"};
export const title = (operation) => (Object.hasOwn(titles, operation) ? titles[operation] : operation.replaceAll("_", " "));

export function decisions(main, state) {
    const place = latest();
    const operations = allKinds().filter((kind) => kind.startsWith("ai.") && !kind.endsWith(".denied")).map((kind) => kind.slice(3));
    const choose = h("div", {class: "segments", role: "group", "aria-label": "Operation"}, ["", ...operations].map((name) => h("a", {href: address("decisions", {operation: name}), "data-name": name}, name ? title(name) : "All")));
    const figures = h("section", {class: "tiles", "aria-label": "Figures"});
    const list = h("div", {class: "cards"});
    const more = h("button", {type: "button", class: "button", hidden: true, onclick: () => load()}, "Older decisions");
    main.append(h("div", {class: "pagehead"}, h("h1", {}, "AI decisions"), h("p", {class: "muted"}, "What the AI decided, by which rule, and for whom. The audit log has the length and the digest of a text, never the text.")),
        choose, figures, list, h("p", {class: "more"}, more));
    let [chosen, cursor, seen] = ["", "", []];
    function load() {
        more.disabled = true;
        place.run(async (signal) => {
            if (!cursor) await loadPeopleOnce(state.status.family_id, signal);
            return entries({family_id: state.status.family_id, q: chosen ? undefined : "ai.", kind: chosen ? `ai.${chosen}` : undefined, cursor, limit: 60}, signal);
        }, (page) => {
            if (!cursor) list.replaceChildren();
            // The search for “ai.” also matches other fields than the kind.
            const found = page.items.filter((entry) => entry.kind.startsWith("ai."));
            seen.push(...found);
            list.append(...found.map((entry) => card(entry, state)));
            if (!seen.length) list.replaceChildren(nothing(page.next_cursor ? "None of the newest entries is such a decision. Load older ones." : "There is no such decision yet."));
            cursor = page.next_cursor;
            more.hidden = !cursor;
            more.disabled = false;
            showFigures(figures, seen);
        }, (error) => {
            more.disabled = false;
            more.hidden = true;
            list.append(failure(error, (event) => {
                event.target.closest(".empty").remove();
                load();
            }));
        });
    }
    return {
        update(params) {
            [chosen, cursor, seen] = [params.get("operation") || "", "", []];
            for (const link of choose.children) {
                if (link.dataset.name === chosen) link.setAttribute("aria-current", "true");
                else link.removeAttribute("aria-current");
            }
            more.hidden = true;
            figures.replaceChildren();
            list.replaceChildren(...skeleton(6));
            load();
        },
        leave: place.stop,
    };
}

function card(entry, state) {
    const details = entry.details || {};
    const operation = details.operation || entry.kind.slice(3);
    const isFallback = details.used_fallback === "true";
    const fact = (name, value) => value && h("span", {class: "fact"}, h("span", {class: "muted"}, name), value);
    const button = h("button", {type: "button", class: "button small", onclick: () => openEntry(entry.family_id, entry.n), "aria-label": `Open and verify entry ${entry.n}`}, "Open and verify");
    return h("article", {class: "card decision"},
        h("header", {}, h("h3", {}, title(operation)), time(entry.at)),
        h("p", {class: "rule"}, h("b", {}, (details.output || "decided").replaceAll("_", " ")), details.rule && h("span", {}, " by rule ", h("code", {}, details.rule))),
        h("div", {class: "factrow"}, fact("for", person(entry.subject || entry.actor)), fact("route", details.route && plain(places, details.route)), fact("provider", details.provider),
            fact("latency", details.latency_us && `${tenths(details.latency_us / 1000)} ms`), details.constraint && fact("constraint", details.constraint),
            isFallback ? h("span", {class: "badge warn"}, `fallback: ${(details.fallback_reason || "used").replaceAll("_", " ")}`) : h("span", {class: "badge"}, "no fallback"),
            state.status.reader === "admin" && fact("in", family(entry.family_id))),
        h("footer", {}, button, h("a", {class: "button small", href: address("trail", {trace_id: entry.trace_id}), "aria-label": `Follow the trace of entry ${entry.n}`}, "Follow the trace")));
}

function showFigures(box, seen) {
    const latencies = seen.map((entry) => Number(entry.details?.latency_us) / 1000).filter((value) => value > 0).sort((left, right) => left - right);
    const at = (share) => (latencies.length ? `${tenths(latencies[Math.min(latencies.length - 1, Math.floor(share * latencies.length))])} ms` : "–");
    const fallbacks = seen.filter((entry) => entry.details?.used_fallback === "true").length;
    const rules = new Map();
    for (const entry of seen) if (entry.details?.rule) rules.set(entry.details.rule, (rules.get(entry.details.rule) || 0) + 1);
    const top = [...rules].sort((left, right) => right[1] - left[1])[0];
    const tile = (title, value, note) => h("div", {class: "card tile"}, h("span", {class: "muted"}, title), h("strong", {}, value), h("small", {class: "muted"}, note));
    box.replaceChildren(tile("Decisions shown", number(seen.length), "newest first"), tile("Median latency", at(0.5), `slowest tenth from ${at(0.9)}`),
        tile("Fallbacks", number(fallbacks), seen.length ? `${Math.round(fallbacks / seen.length * 100)} % of them` : ""), tile("Most used rule", top ? String(top[1]) : "–", top ? h("code", {}, top[0]) : ""));
}
