// The words of the API about questions to the AI, as people read them.
import {word} from "/console/cards.js";

const map = (words) => new Map(Object.entries(words));
/** A word as people read it; an unknown one without its underscores. */
export const plain = (words, name) => words.get(name) ?? word(String(name));

export const modes = map({
    heuristic: "Rules only: no language model", auto: "Automatic: a model where there is one, else the rules", on_device_only: "Only the model of my device's system",
    local_only: "Only my device", byo_only: "Only my own provider, with my key", off: "Off: nothing answers",
});
export const levels = map({auto: "Device first, then server", local: "Only on the device", cloud: "At the server"});
export const intents = map({informational: "Information", analytical: "Analysis", retrieval: "Earlier entries"});
/** What a question asked for. */
export const tasks = map({
    heuristic: "the rules", local_llm: "a model on the device or this server", cloud_llm: "a model of the person's own key", rag_retrieval: "earlier entries", hybrid_rag: "earlier entries and a model",
});
export const places = map({local: "the device", cloud: "the server"});
export const networks = map({online: "Online", offline: "Offline", degraded: "Slow or unstable"});
/** How far a question goes. */
export const reaches = map({device: "it stays on the device", server: "it stays on the server", third_party: "it leaves for another company"});
export const agreements = map({yes: "yes", no: "declined", none: "not asked, or not answered"});

const fallbacks = map({
    mode: "the person's mode uses no such model", task_not_covered: "the model there does not word answers of this kind", unavailable: "the model was not reached",
    error: "the model failed", latency_budget: "the model took too long", facts_changed: "the facts changed meanwhile",
});

/** Why the rules answered. */
export const fallbackText = (reason) => fallbacks.get(reason) ?? (reason.startsWith("output_rejected:") ? `the model's text was refused (${reason.slice(16).replaceAll("_", " ")})` : reason.replaceAll("_", " "));
