// A person's own settings for the AI: what each means in plain words, and what would answer now.
import {levels, modes} from "/console/aiwords.js";
import {get, me, open, target} from "/console/api.js";
import {failure, h, skeleton, toast} from "/console/dom.js";
import {choose, field, form, numberFrom} from "/console/form.js";
import {latest} from "/console/latest.js";
import {providers} from "/console/providers.js";

const meanings = new Map(Object.entries({
    heuristic: "Fixed rules answer every question. Nothing is sent to a language model.",
    auto: "A model writes the text where you have one: your device's, your own key's, or this server's. Where none can, the rules answer and say so.",
    on_device_only: "The operating system's model on your device answers, and nobody else does. This server refuses your questions.",
    local_only: "Your device answers, with its own gateway's model or the rules. This server refuses your questions.",
    byo_only: "The model of your own key answers, and nobody else does. Without a key, and where your family's policy allows no other company, questions are refused.",
    off: "Nothing answers your questions, on your device or here, and drafts that your AI made end.",
}));
const flags = new Map([["true", "On"], ["false", "Off"]]);
const localModels = new Map([["", "No choice: the system's model first"], ["foundation_models", "The system's model on my device"], ["local_model", "The gateway's model on my device"]]);

export function aiSettings(main, state) {
    const family = state.status.family_id;
    const place = latest();
    const content = h("div", {class: "cards"});
    main.append(h("div", {class: "pagehead"}, h("h1", {}, "AI settings"), h("p", {class: "muted"}, "What may answer your own questions to the AI. Everybody in the family has settings of their own.")), content);

    function load() {
        content.replaceChildren(...skeleton(3));
        place.run(async (signal) => ({
            preferences: await get("/preferences", {family_id: family}, signal), known: await get("/ai/providers", {family_id: family}, signal),
        }), ({preferences, known}) => content.replaceChildren(settings(preferences, known, load), h("div", {}, now(preferences.prefs_json, known), providers(family))),
        (error) => content.replaceChildren(failure(error, load)));
    }

    function settings({prefs_json: current, etag}, {items}, again) {
        const cloud = new Map([["", "No choice"], ...items.filter((one) => one.reach === "third_party" && one.model).map((one) => [`${one.name}/${one.model}`, `${one.name}: ${one.model}`])]);
        const gateway = items.find((one) => one.name === "server_gateway")?.model;
        const local = new Map(gateway ? [...localModels, [gateway, `This server's model: ${gateway}`]] : localModels);
        const select = (name, label, options, value, hint) => {
            const known = options.has(value) ? options : new Map([...options, [value, `${value} (not there any more)`]]);
            return field(name, label, choose(name, [...known.keys()], value, (one) => known.get(one)), hint);
        };
        const number = (name, label, value, hint) => field(name, label, h("input", {type: "number", name, value: String(value)}), hint);
        const fields = [
            select("prefs_json.ai_mode", "Mode", modes, current.ai_mode === "apple_only" ? "on_device_only" : current.ai_mode, "What may answer."),
            select("prefs_json.ai_privacy_level", "Privacy level", levels, current.ai_privacy_level, "Where a question may go that does not say it itself."),
            select("prefs_json.ai_server_enabled", "AI on this server", flags, String(current.ai_server_enabled), "Off: this server answers none of your questions."),
            select("prefs_json.ai_on_device_enabled", "AI on your devices", flags, String(current.ai_on_device_enabled), "Off: no device of yours answers by itself."),
            select("prefs_json.ai_model_local", "Model on your device or this server", local, current.ai_model_local ?? "", "Which model writes in the automatic mode."),
            select("prefs_json.ai_model_cloud", "Model of your own keys", cloud, current.ai_model_cloud ?? "", "With several keys nothing is sent before you choose."),
            number("prefs_json.ai_token_threshold", "Longest question for your device", current.ai_token_threshold, "In tokens of about four characters, 256 to 32,768. Longer questions to the coach go to the server."),
            number("prefs_json.ai_log_retention_days", "Days of history", current.ai_log_retention_days, "7 to 365. Words are never in it."),
            select("prefs_json.ai_log_errors_only", "Keep only refused questions", flags, String(current.ai_log_errors_only), "On: the history has only questions that got no answer."),
        ];
        const meaning = h("p", {class: "muted", "aria-live": "polite"}, meanings.get(fields[0].read()) ?? "");
        const element = form({
            key: `ai ${family}`, fields, button: "Save", again,
            async save() {
                const changed = Object.fromEntries(fields.map((one) => [one.name.slice("prefs_json.".length), one.read()]).map(([name, text]) => [name, value(name, text)])
                    .filter(([name, wanted]) => wanted !== (current[name] ?? null)));
                if (!Object.keys(changed).length) return null;
                return (await open("PATCH", target("/preferences", {family_id: family}), {body: {prefs_json: changed}, match: etag})).json();
            },
            saved() {
                toast("Your AI settings are saved", "good");
                load();
            },
        });
        element.addEventListener("input", () => { meaning.textContent = meanings.get(fields[0].read()) ?? ""; });
        return h("section", {class: "card", "aria-label": "Settings"}, h("h2", {}, me()?.display_name ? h("bdi", {}, me().display_name) : "Your settings"), meaning, element);
    }

    return {update: load, leave: place.stop};
}

/** A field's text as the preference has it. */
function value(name, text) {
    if (["ai_server_enabled", "ai_on_device_enabled", "ai_log_errors_only"].includes(name)) return text === "true";
    if (["ai_token_threshold", "ai_log_retention_days"].includes(name)) return numberFrom(text);
    return text === "" ? null : text;
}

/** What would answer a question to this server now. */
function now(preferences, {items}) {
    const active = items.filter((one) => one.active);
    const own = active.find((one) => one.reach === "third_party");
    const gateway = active.find((one) => one.name === "server_gateway");
    const say = () => {
        if (preferences.ai_mode === "off" || preferences.ai_server_enabled === false) return "Nothing: the AI is switched off on this server.";
        if (["on_device_only", "apple_only", "local_only"].includes(preferences.ai_mode)) return "Nothing here: your mode lets only your device answer.";
        if (preferences.ai_mode === "byo_only") return own ? `${own.name} (${own.model}), with your key.` : "Nothing: your mode asks for a key of your own that can be used.";
        if (preferences.ai_mode === "auto" && (own || gateway)) return `The rules; for a question that asks for a model, ${[own && `${own.name} (${own.model})`, gateway && `this server's model (${gateway.model})`].filter(Boolean).join(" or ")}.`;
        return "The rules.";
    };
    return h("section", {class: "card answering", "aria-label": "Now"}, h("h2", {}, "What would answer here now"), h("p", {}, say()));
}
