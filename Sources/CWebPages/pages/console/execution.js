// The page of one question to the AI: every attempt under its trace, with rule, route, model, fallback and confirmations.
import {agreements, fallbackText, levels, places, plain, reaches, tasks} from "/console/aiwords.js";
import {get} from "/console/api.js";
import {copyable, failure, h, number, skeleton, tenths} from "/console/dom.js";
import {title} from "/console/decisions.js";
import {download} from "/console/export.js";
import {latest} from "/console/latest.js";
import {short8} from "/console/people.js";
import {address} from "/console/router.js";
import {time} from "/console/time.js";

/** Who answered, in words; “in place of” only of a model that was asked. */
export function authorText({provider, model, asked, used_fallback: used, fallback_reason: reason}) {
    const author = provider === "heuristic" ? "the rules" : `${model} (${provider.replaceAll("_", " ")})`;
    if (!used) return author;
    return asked ? `${author}, in place of ${asked.model}: ${fallbackText(reason)}` : `${author}; no model was asked: ${fallbackText(reason)}`;
}

/** {element, show(trace), leave()}: the page under a trace. `canFollow` is for those who may read the audit log. */
export function executionPage({nameOf, canFollow, back}) {
    const place = latest();
    const element = h("section", {class: "cards one", "aria-label": "One question"});

    function show(trace) {
        element.replaceChildren(...skeleton(4));
        place.run((signal) => get(`/ai/executions/${encodeURIComponent(trace)}`, {}, signal), (answer) => {
            element.replaceChildren(head(answer), ...answer.attempts.map((one, index) => attempt(one, index, answer.attempts.length)));
            element.querySelector("h2").focus();
        }, (error) => element.replaceChildren(failure(error, () => show(trace)), back()));
    }

    const head = (answer) => h("div", {class: "card"}, h("h2", {tabindex: "-1"}, "One question"), h("dl", {class: "fields"}, h("dt", {}, "Trace"), h("dd", {}, copyable(answer.trace_id))),
        h("div", {class: "actions"}, back(), h("button", {type: "button", onclick: () => download([JSON.stringify(answer, null, 2), "\n"], `nagz-ai-question-${short8(answer.trace_id)}.json`)}, "Export this record"),
            canFollow && h("a", {class: "button", href: address("trail", {trace_id: answer.trace_id})}, "Follow the trace in the audit log")));

    function attempt(one, index, count) {
        const how = one.execution;
        const text = (value) => h("bdi", {}, value);
        const row = (name, ...value) => [h("dt", {}, name), h("dd", {}, ...value)];
        const {asked} = how;
        return h("article", {class: "card execution", "data-id": one.id},
            h("header", {}, h("h3", {}, count > 1 ? `Attempt ${index + 1}: ` : "", title(one.operation)), time(one.created_at)),
            h("dl", {class: "fields"},
                row("Result", one.error_code ? ["Refused with ", h("code", {}, one.error_code)] : "Answered"), how.violation_reason && row("Because", text(how.violation_reason)),
                row("Asked by", text(nameOf(one.user_id))), one.question_id && row("Question", copyable(one.question_id)),
                row("Why", how.reason || "It was refused before it was sent anywhere."), how.rule_id && row("Rule", h("code", {}, how.rule_id)),
                how.claimed_rule_id && row("Claimed by the client", h("code", {}, how.claimed_rule_id)),
                row("Went to", how.route ? plain(places, how.route) : "nobody"), row("Asked for", plain(tasks, how.task_type)), row("Privacy", plain(levels, how.privacy_level)),
                !one.error_code && row("Answered by", authorText(how)),
                row("Model that was asked", asked ? [text(`${asked.model} (${asked.provider.replaceAll("_", " ")})`), `: ${plain(reaches, asked.reach)}`] : "none"),
                row("May fall back", how.fallback_allowed ? "yes" : "no"), row("Fallback", how.used_fallback ? fallbackText(how.fallback_reason) : "none"),
                row("Fallback confirmed", plain(agreements, how.fallback_confirmed)), row("Constraint confirmed", plain(agreements, how.constraint_confirmed)),
                row("Constraints", `${how.applied.length} of ${how.evaluated.length} applied`), ...how.warnings.map((warning) => row("Warning", text(warning))),
                how.confidence !== null && row("Sure", `${Math.round(how.confidence * 100)} %`),
                how.question_length > 0 && row("Length", `${number(how.question_length)} bytes, about ${number(how.token_count)} tokens`), how.question_hash && row("Keyed digest of the text", copyable(how.question_hash)),
                row("Took", `${tenths(how.latency_ms)} ms`)),
            h("h4", {}, "Stages"), h("ol", {class: "terms"}, how.stages.map((stage) => h("li", {}, stage.stage, " ", time(stage.at)))));
    }

    return {element, show, leave: place.stop};
}
