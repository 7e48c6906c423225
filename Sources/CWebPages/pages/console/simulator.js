// The simulator: what the constraints and the router would say of a question, while it is typed.
import {intents, levels, modes, networks, plain} from "/console/aiwords.js";
import {write} from "/console/api.js";
import {fact} from "/console/cards.js";
import {termsOf} from "/console/constraintform.js";
import {h, icon} from "/console/dom.js";
import {checkboxes, choose, field, numberFrom} from "/console/form.js";
import {latest} from "/console/latest.js";

/** The id of a constraint that is not saved: later than any other, as a new one would be. */
const unsaved = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/**
 * {element, run(), later(), stop()}: `run` tries the question now, `later` when nothing was typed for a moment.
 * - `saved()` returns the constraints that exist;
 * - `edited()` returns {id, terms} of the constraint in the form, nothing before something was typed.
 */
export function simulator({family, saved, edited}) {
    const place = latest();
    let timer = null;
    const question = (name, label, control, hint) => field(`cases[0].question.${name}`, label, control, hint);
    const state = (name, label, control, hint) => field(`cases[0].state.${name}`, label, control, hint);
    const box = (name, label) => checkboxes(name, label, [{value: "yes", title: h("span", {}, "yes")}]);
    const numeric = (name, value) => h("input", {type: "text", inputmode: "numeric", name, autocomplete: "off", value});
    const words = (name) => h("input", {type: "text", name, autocomplete: "off", dir: "auto"});

    const select = (name, words, chosen, first = []) => choose(name, [...first, ...words.keys()], chosen, (one) => (one ? plain(words, one) : "Not known"));

    const content = question("content", "Question", h("textarea", {name: "content", rows: "3", dir: "auto"}));
    const tokens = question("token_count", "Length in tokens", numeric("token_count", ""), "A token is about four characters. Left empty: estimated from the question.");
    const intent = question("intent", "What it is for", select("intent", intents, "", [""]));
    const level = question("privacy_level", "Where it may be answered", select("privacy_level", levels, "auto"));
    const offline = box("cases[0].question.require_offline", "Without a network");
    const network = state("network", "Network", select("network", networks, "online"));
    const mode = state("mode", "AI mode", select("mode", modes, "heuristic"));
    const threshold = state("token_threshold", "Longest question for the device, in tokens", numeric("token_threshold", "4096"));
    const available = box("cases[0].state.local.available", "The device can answer");
    const most = state("local.max_tokens", "Longest question that the device takes, in tokens", numeric("max_tokens", "4096"));
    const supported = checkboxes("cases[0].state.local.intents", "What the device answers", [...intents].map(([value, title]) => ({value, title: h("span", {}, title)})));
    const model = state("local.model.name", "Model on the device", words("model"), "Left empty: the rules alone.");
    const ofSystem = box("cases[0].state.local.model.of_system", "It is the operating system's model");
    const own = state("byo_model", "Model of the person's own key", words("byo_model"));
    const gateway = state("gateway_model", "Model of this server", words("gateway_model"));
    const thirdParty = box("cases[0].state.third_party_allowed", "The policy allows models of other companies");
    available.write(["yes"]);
    supported.write([...intents.keys()]);
    const asked = [content, tokens, intent, level, offline];
    const known = [network, mode, threshold, available, most, supported, model, ofSystem, own, gateway, thirdParty];
    const withForm = h("input", {type: "checkbox", name: "with_form", checked: true, onchange: run});
    const formChoice = h("label", {class: "inline"}, withForm, "With the constraint as it is in the form");
    const result = h("div", {class: "verdict", role: "status"});
    const folded = h("details", {class: "figures"}, h("summary", {}, "What is assumed of the device and the person"), h("div", {class: "changeform"}, known.map((one) => one.element)));
    const element = h("section", {class: "card simulator", "aria-labelledby": "simulatortitle", "data-part": "simulator", oninput: later},
        h("h2", {id: "simulatortitle"}, "Try a question"), h("p", {class: "fine"}, "See who would answer a question, and why. The question is not sent to anybody, and nothing is stored."),
        h("div", {class: "changeform"}, asked.map((one) => one.element)), formChoice, result, folded);

    const yes = (one) => one.read().length > 0;
    function body(form) {
        const name = model.read().trim();
        const local = {max_tokens: numberFrom(most.read().trim()), available: yes(available), intents: supported.read(), model: name ? {name, of_system: yes(ofSystem)} : null};
        return {
            family_id: family,
            cases: [{
                question: {content: content.read(), token_count: numberFrom(tokens.read().trim()), intent: intent.read() || null, privacy_level: level.read(), require_offline: yes(offline)},
                state: {local, network: network.read(), mode: mode.read(), token_threshold: numberFrom(threshold.read().trim()), byo_model: own.read().trim() || null,
                    gateway_model: gateway.read().trim() || null, third_party_allowed: yes(thirdParty)},
            }],
            ...form && {constraints: replaced(saved(), form)},
        };
    }
    function later() {
        clearTimeout(timer);
        timer = setTimeout(run, 400);
    }
    function run() {
        clearTimeout(timer);
        const open = edited();
        formChoice.hidden = !open;
        const form = withForm.checked ? open : null;
        for (const one of [...asked, ...known]) one.tell("");
        if (!content.read().trim() && !tokens.read().trim()) {
            place.stop();
            return result.replaceChildren();
        }
        place.run((signal) => write("POST", "/ai/constraints/simulate", body(form), null, signal), ({results: [answer]}) => show(answer, form), refuse);
    }
    function refuse(error) {
        const isOfForm = error.field?.startsWith("constraints[0]");
        [...asked, ...known].find((one) => one.name === error.field)?.tell(error.message);
        fill("unknown", "unknown", isOfForm ? "Complete the constraint in the form first" : "This cannot be tried yet", !isOfForm && h("p", {}, error.message));
    }
    function show(answer, form) {
        const {policy, decision, failure, explanation} = answer;
        const nameOf = (id) => (form && id === (form.id ?? unsaved) ? form.terms.name : saved().find((one) => one.id === id)?.name ?? id);
        const [tone, sign, title] = failure ? ["bad", "cross", "Nobody would answer"] : policy.confirmation ? ["open", "wait", "It would be answered after a confirmation"]
            : ["good", "check", decision.route === "local" ? "The device would answer" : "The server would answer"];
        const warnings = decision?.warnings ?? policy.warnings;
        const by = decision && (decision.provider === "heuristic" ? "the rules" : h("bdi", {}, decision.model ? `${decision.model} (${decision.provider.replaceAll("_", " ")})` : decision.provider));
        // The reason of a constraint is what somebody wrote, unlike the words before it.
        const reason = policy.violation?.reason;
        const why = reason && explanation.endsWith(`: ${reason}`) ? [explanation.slice(0, -reason.length - 2), ": ", h("bdi", {}, reason)] : explanation;
        fill(tone, sign, title, h("p", {}, why, "."),
            policy.confirmation && h("p", {class: "prompt"}, "The person is asked: ", h("bdi", {}, policy.confirmation)),
            warnings.map((warning) => h("p", {}, "Warning: ", h("bdi", {}, warning))),
            h("p", {}, policy.applied.length ? ["Constraints that apply: ", policy.applied.map((id, index) => [index ? ", " : "", h("bdi", {}, nameOf(id))]), "."] : "No constraint applies."),
            h("div", {class: "factrow"}, by && fact("answer by ", by), fact("rule ", h("code", {}, decision?.rule_id ?? failure?.rule_id ?? "none")), failure?.error_code && fact("code ", h("code", {}, failure.error_code))));
    }
    function fill(tone, sign, title, ...lines) {
        result.className = `verdict ${tone}`;
        result.replaceChildren(icon(sign), h("div", {}, h("strong", {}, title), ...lines));
    }
    return {element, run, later, stop() { clearTimeout(timer); place.stop(); }};
}

/** The saved constraints with the one in the form, which moves those down whose place it takes. */
function replaced(saved, {id, terms}) {
    const others = saved.filter((one) => one.id !== id).map((one) => ({id: one.id, ...termsOf(one)})).sort((left, right) => left.priority - right.priority);
    let taken = terms.priority;
    for (const one of others.filter((one) => one.scope === terms.scope && one.priority >= terms.priority)) {
        if (one.priority !== taken) break;
        taken += 1;
        one.priority = taken;
    }
    return [{id: id ?? unsaved, ...terms}, ...others];
}
