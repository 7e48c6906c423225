// What can answer the questions of the person who is signed in, and why something cannot.
import {get} from "/console/api.js";
import {h, tenths} from "/console/dom.js";

const names = new Map(Object.entries({
    heuristic: "Rules", server_gateway: "Language model of this server", openai: "OpenAI, with your key",
    anthropic: "Anthropic, with your key", custom: "Another service, with your key",
}));
const places = {device: "stays on the device or this server", server: "stays on this server", third_party: "leaves for another company"};
const reasons = new Map(Object.entries({
    not_configured: "not set up", adults_only: "for adults only", third_party_models_off: "your family's policy does not allow it",
    unreachable: "does not answer", timed_out: "does not answer in time", failed: "fails", unknown_model: "does not have the configured model",
    key_refused: "refuses the key", limited: "accepts no more requests at present", paused: "failed several times, and is left alone for a moment",
    busy: "has too many questions waiting", unsupported: "exists on other devices only", not_checked: "not checked yet",
}));

/** What is known of a model: how long it takes, and when it was last checked. */
const facts = (one) => [`about ${tenths(one.latency_ms / 1000)} s ${one.latency_measured ? "(measured)" : "(declared)"}`,
    one.check_age_seconds === null ? "never checked" : `checked ${one.check_age_seconds} s ago`].join(", ");

/** A section with one line for each; an error leaves it out, because the page is about something else. */
export function providers(family) {
    const list = h("ul", {class: "providers"});
    const section = h("section", {class: "card answering", "aria-label": "What can answer", hidden: true}, h("h2", {}, "What can answer your questions"), list);
    get("/ai/providers", {family_id: family}).then(({items}) => {
        list.replaceChildren(...items.map((one) => h("li", {},
            h("b", {}, names.get(one.name) ?? h("bdi", {}, one.name)), one.model && h("span", {}, " ", h("bdi", {}, one.model)), h("span", {class: "muted"}, ` ${places[one.reach] ?? ""} `),
            h("span", {class: one.active ? "badge" : "badge plain"}, one.active && (one.available || one.reason === "not_checked") ? "in use" : one.available ? "not in use" : reasons.get(one.reason) ?? one.reason),
            one.name !== "heuristic" && one.model && h("small", {class: "muted"}, ` ${facts(one)}`))));
        section.hidden = false;
    }, () => {});
    return section;
}
