// Requests that a reader sends from the page. The token is kept in this tab only.
import {copyable, h, toast} from "/console/dom.js";
import {example} from "/docs/examples.js";
import {resolved} from "/docs/schemas.js";

let token = sessionStorage.getItem("nagz.docs.token") ?? "";

function keep(value) {
    token = value.trim();
    if (token) sessionStorage.setItem("nagz.docs.token", token);
    else sessionStorage.removeItem("nagz.docs.token");
}

function entry(label, input, note) {
    input.id = `in-${label.replaceAll(/\W/g, "-")}`;
    return h("div", {class: "entry"}, h("label", {for: input.id}, label), input, note && h("p", {class: "fine muted"}, note));
}

/** Where a reader signs in, or pastes a token. */
export function tokenForm() {
    const email = h("input", {type: "email", autocomplete: "username", required: true});
    const password = h("input", {type: "password", autocomplete: "current-password", required: true});
    const given = h("input", {value: token, autocomplete: "off", spellcheck: "false", onchange: () => { keep(given.value); tell(); }});
    const state = h("p", {class: "fine", role: "status"});
    const tell = () => { state.textContent = token ? "Requests from this page carry the token." : "Requests from this page carry no token yet."; };
    async function signIn(event) {
        event.preventDefault();
        const answer = await fetch("/api/v1/auth/login", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({email: email.value, password: password.value})});
        const body = await answer.json();
        if (!answer.ok) return toast(body.error?.message ?? `The server answered ${answer.status}.`, "bad");
        keep(body.access_token);
        given.value = token;
        password.value = "";
        tell();
        toast("Signed in");
    }
    tell();
    return h("section", {class: "card", "aria-labelledby": "tokentitle"}, h("h2", {id: "tokentitle"}, "Authentication"), state,
        h("form", {class: "row", onsubmit: signIn}, entry("E-mail", email), entry("Password", password), h("button", {class: "primary"}, "Sign in")),
        entry("Access token", given, "Or paste one. It stays in this tab."));
}

/** Whether requests from the page carry a token. */
export const isSignedIn = () => token !== "";

/** The first content that the request may have: its media type and schema. */
export const content = (operation) => Object.entries(resolved(operation.requestBody).content ?? {})[0] ?? [];

const quoted = (value) => `'${value.replaceAll("'", "'\\''")}'`;

function asCurl({method, url, headers, body}) {
    const lines = [`curl -X ${method} ${quoted(new URL(url, location.href).href)}`];
    for (const [name, value] of Object.entries(headers)) {
        // The token itself belongs into no shell's history.
        lines.push(name === "Authorization" ? '-H "Authorization: Bearer $TOKEN"' : `-H ${quoted(`${name}: ${value}`)}`);
    }
    if (body) lines.push(`-d ${quoted(body)}`);
    return lines.join(" ");
}

async function answer(request) {
    const started = performance.now();
    // A mistyped member is refused instead of ignored.
    const headers = {...request.headers, Prefer: "handling=strict"};
    const response = await fetch(request.url, {method: request.method, headers, body: request.body, cache: "no-store"});
    const text = await response.text();
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 4); } catch { /* no JSON: shown as it is */ }
    return h("div", {}, h("p", {}, h("span", {class: response.ok ? "status good" : "status"}, `${response.status} ${response.statusText}`),
        ` in ${Math.round(performance.now() - started)} ms`),
    h("details", {}, h("summary", {class: "fine"}, "header fields"), h("pre", {class: "scroller", tabindex: 0}, [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n"))),
    h("pre", {class: "scroller", tabindex: 0, "aria-label": "The answer"}, shown.length > 200_000 ? `${shown.slice(0, 200_000)}\n…` : shown || "no content"));
}

/** A form with a field for every parameter, and the answer below it. */
export function requestForm({path, method, operation}) {
    const inputs = (operation.parameters ?? []).map(resolved).map((parameter) => {
        const isNeeded = parameter.required === true;
        const start = isNeeded ? String(example(parameter.schema ?? {}, false)) : "";
        return {parameter, input: h("input", {value: start, required: isNeeded, autocomplete: "off", spellcheck: "false"})};
    });
    const [type, media] = content(operation);
    const isJSON = type === "application/json";
    const body = isJSON && h("textarea", {spellcheck: "false"}, JSON.stringify(example(media.schema, false), null, 4));
    const file = type && !isJSON && h("input", {type: "file"});
    const result = h("div", {"aria-live": "polite"});

    function request() {
        let url = path;
        const query = new URLSearchParams();
        const headers = token ? {Authorization: `Bearer ${token}`} : {};
        for (const {parameter, input} of inputs) {
            if (parameter.in === "path") url = url.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
            else if (!input.value) continue;
            else if (parameter.in === "query") query.append(parameter.name, input.value);
            else headers[parameter.name] = input.value;
        }
        if (query.size) url += `?${query}`;
        if (type && type !== "multipart/form-data") headers["Content-Type"] = type;
        return {method, url, headers, body: isJSON ? body.value : undefined};
    }

    async function send(event) {
        event.preventDefault();
        const made = request();
        if (file?.files[0]) {
            made.body = file.files[0];
            if (type === "multipart/form-data") (made.body = new FormData()).append("file", file.files[0]);
        }
        result.replaceChildren(h("p", {class: "muted"}, "Waiting for the answer …"));
        try {
            result.replaceChildren(h("p", {class: "fine"}, "The same in a shell: ", copyable(asCurl(made))), await answer(made));
        } catch {
            result.replaceChildren(h("p", {role: "alert"}, "The server cannot be reached."));
        }
    }

    return h("form", {class: "card docsform", onsubmit: send}, h("h2", {}, "Try it"),
        h("div", {class: "row"}, inputs.map(({parameter, input}) => entry(`${parameter.name} (${parameter.in})`, input))),
        body && entry("Body", body), file && entry("File", file),
        h("div", {class: "row"}, h("button", {class: "primary"}, "Send"),
            method !== "GET" && h("span", {class: "fine muted"}, "This changes data of this server.")), result);
}
