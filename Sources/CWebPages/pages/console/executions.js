// What members of the family asked the AI, and how each question was answered or refused: never a word of it. Guardians see
// everybody's, others their own; one question has a page of its own.
import {fallbackText, levels, plain, tasks} from "/console/aiwords.js";
import {get, lines} from "/console/api.js";
import {failure, h, nothing, number, showError, skeleton, tenths, toast} from "/console/dom.js";
import {title} from "/console/decisions.js";
import {authorText, executionPage} from "/console/execution.js";
import {download} from "/console/export.js";
import {latest} from "/console/latest.js";
import {short8} from "/console/people.js";
import {providers} from "/console/providers.js";
import {address} from "/console/router.js";
import {time} from "/console/time.js";

const outcomes = new Map([["", "All"], ["success", "Answered"], ["error", "Refused"]]);

export function executions(main, state) {
    const family = state.status.family_id;
    const place = latest();
    const choose = h("div", {class: "segments", role: "group", "aria-label": "Outcome"}, [...outcomes].map(([result, text]) => h("a", {href: address("executions", {result}), "data-name": result}, text)));
    const list = h("div", {class: "cards"});
    const more = h("button", {type: "button", class: "button", hidden: true, onclick: () => load()}, "Older questions");
    const exporting = h("button", {type: "button", onclick: () => exportAll()}, "Export");
    const all = h("div", {}, providers(family), h("div", {class: "actions"}, choose, exporting), list, h("p", {class: "more"}, more));
    let [result, cursor, shown, names] = ["", "", 0, new Map()];
    const nameOf = (id) => names.get(id)?.trim() || `Person ${short8(id)}`;
    const canFollow = state.status.reader !== "member";
    const one = executionPage({nameOf, canFollow, back: () => h("a", {class: "button", href: address("executions", {result})}, "All questions")});
    main.append(h("div", {class: "pagehead"}, h("h1", {}, "Questions to the AI"), h("p", {class: "muted"}, "Who asked the AI, who answered, and why. The text of questions and answers is never stored. Each person sets in their settings how long this history is kept.")), all, one.element);

    /** Loads the names of the members; without them the ids are shown. */
    async function members() {
        const found = await get(`/families/${family}/members`).catch(() => ({items: []}));
        names = new Map(found.items.map((member) => [member.user_id, member.display_name ?? ""]));
    }

    const filters = () => ({family_id: family, result});

    function load() {
        more.disabled = true;
        place.run(async (signal) => {
            const [page] = await Promise.all([get("/ai/executions", {...filters(), cursor, limit: 60}, signal), cursor ? null : members()]);
            return page;
        }, (page) => {
            if (!cursor) list.replaceChildren();
            list.append(...page.items.map((one) => card(one, nameOf, canFollow)));
            shown += page.items.length;
            cursor = page.next_cursor;
            if (!shown) list.replaceChildren(nothing(cursor ? "None of the newest questions is in this list. Load older ones." : "No question is in this list yet."));
            more.hidden = !cursor;
            more.disabled = false;
        }, (error) => {
            more.disabled = false;
            more.hidden = true;
            list.append(failure(error, (event) => {
                event.target.closest(".empty").remove();
                load();
            }));
        });
    }

    async function exportAll() {
        exporting.disabled = true;
        try {
            const {parts, count} = await lines("/ai/executions/export", filters(), () => {});
            download(parts, `nagz-ai-questions-${short8(family)}.ndjson`);
            toast(`${number(count)} lines exported`, "good");
        } catch (error) {
            showError("The export failed", error, exportAll);
        } finally {
            exporting.disabled = false;
        }
    }

    return {
        update(params) {
            const trace = params.get("trace");
            [all.hidden, one.element.hidden] = [Boolean(trace), !trace];
            if (trace) {
                place.stop();
                return members().then(() => one.show(trace));
            }
            one.leave();
            [result, cursor, shown] = [outcomes.has(params.get("result")) ? params.get("result") : "", "", 0];
            for (const link of choose.children) {
                if (link.dataset.name === result) link.setAttribute("aria-current", "true");
                else link.removeAttribute("aria-current");
            }
            more.hidden = true;
            list.replaceChildren(...skeleton(6));
            load();
        },
        leave() {
            place.stop();
            one.leave();
        },
    };
}

function card(one, nameOf, canFollow) {
    const how = one.execution;
    const fact = (name, value) => value && h("span", {class: "fact"}, h("span", {class: "muted"}, name), value);
    const text = (value) => value && h("bdi", {}, value);
    return h("article", {class: "card decision execution"},
        h("header", {}, h("h3", {}, title(one.operation)), time(one.created_at)),
        h("p", {class: "rule"}, h("b", {}, one.error_code ? "Refused" : "Answered"), one.error_code && h("span", {}, " with ", h("code", {}, one.error_code)), how.violation_reason && h("span", {}, ": ", text(how.violation_reason))),
        h("div", {class: "factrow"}, fact("by", text(nameOf(one.user_id))), !one.error_code && fact("answered by", authorText(how)), fact("asked for", plain(tasks, how.task_type)), fact("privacy", plain(levels, how.privacy_level)),
            fact("why", how.reason), fact("latency", `${tenths(how.latency_ms)} ms`), how.applied.length > 0 && fact("constraints applied", String(how.applied.length)),
            how.used_fallback && h("span", {class: "badge warn"}, `fallback: ${fallbackText(how.fallback_reason)}`), how.warnings.map((warning) => h("span", {class: "badge warn"}, text(warning)))),
        h("footer", {}, h("a", {class: "button small", "data-part": "open", href: address("executions", {trace: one.trace_id}), "aria-label": `Open the question ${short8(one.id)}`}, "Open"),
            canFollow && h("a", {class: "button small", href: address("trail", {trace_id: one.trace_id}), "aria-label": `The trace of the question ${short8(one.id)} in the audit log`}, "Follow the trace")));
}
