// The page about the API: the guide, and every operation and webhook of /openapi.json by group, with search and a form to try it.
import {copyable, failure, h} from "/console/dom.js";
import {toggleTheme} from "/console/theme.js";
import {elements, inline as line, sections, textOf} from "/docs/guide.js";
import {content, isSignedIn, requestForm, tokenForm} from "/docs/requests.js";
import {field, fieldNames, fields, prose, resolved, setDocument, vocabulary} from "/docs/schemas.js";
import {entry, find} from "/docs/search.js";

const app = document.getElementById("app");
const search = h("input", {type: "search", id: "q", placeholder: "Search ( / )", "aria-label": "Search the guide and the operations", oninput: () => { openIndex(true); showIndex(); }});
const index = h("nav", {class: "index", "aria-label": "Guide and operations"});
const main = h("main", {id: "main", tabindex: -1});
/** On a narrow screen it opens the index, which is closed beside an operation or a section. */
const menu = h("button", {type: "button", class: "ghost menu", "aria-expanded": "false", onclick: () => openIndex(!index.classList.contains("open"))}, "Contents");
/** Operations, then webhooks, which have no path: the server sends them. */
let operations = [];
/** The sections of the guide that have a title. */
let guide = [];
/** What the search finds: sections of the guide, then operations. */
let entries = [];
let groups = [];

function gather(api) {
    groups = [...api.tags ?? [], {name: "webhooks", description: "Receive the push messages, text messages and mails that the server sends to a gateway."}];
    const of = (item, more) => Object.entries(item).filter(([, operation]) => operation.operationId)
        .map(([method, operation]) => ({method: method.toUpperCase(), operation, id: operation.operationId, group: operation.tags?.[0], ...more}));
    operations = [...Object.entries(api.paths).flatMap(([path, item]) => of(item, {path})), ...Object.values(api.webhooks ?? {}).flatMap((item) => of(item, {path: "", group: "webhooks"}))];
}

function openIndex(isOpen) {
    index.classList.toggle("open", isOpen);
    menu.setAttribute("aria-expanded", String(isOpen));
}

const selected = () => operations.find(({id}) => location.hash === `#/${id}`);
const selectedSection = () => guide.find((section) => location.hash === `#/guide/${section.anchor}`);

/** An operation as the search knows it. What many have in common, such as headers and errors, tells nothing. */
function operationEntry({id, path, method, group, operation}) {
    const parameters = (operation.parameters ?? []).filter((parameter) => !parameter.$ref);
    const body = content(operation)[1]?.schema;
    const media = Object.entries(operation.responses).filter(([status]) => status < "300").flatMap(([, response]) => Object.values(resolved(response).content ?? {}));
    return entry("operation", id, {
        title: operation.summary, id, path: `${method} ${path}`, group, text: operation.description, fields: [...parameters.map(({name}) => name), ...fieldNames(body)],
        below: vocabulary([...parameters.map(({schema}) => schema), body]), response: vocabulary(media.map(({schema}) => schema)),
    });
}

/** Prepares the search. */
function gatherEntries() {
    entries = [...guide.map((section) => entry("guide", section.anchor, {title: section.title, text: textOf(section.lines)})), ...operations.map(operationEntry)];
}

const sectionLink = (section) => h("a", {href: `#/guide/${section.anchor}`, "aria-current": selectedSection() === section && "page"}, section.title);
const operationLink = ({id, method, operation}) => h("a", {href: `#/${id}`, title: operation.summary, "aria-current": selected()?.id === id && "page"},
    h("span", {class: "method", "data-method": method}, method), operation.summary);

/** The guide and the operations by group or, with a search, what it finds, the best first. */
function showIndex() {
    if (search.value.trim()) {
        const link = ({kind, key}) => kind === "guide" ? sectionLink(guide.find((one) => one.anchor === key)) : operationLink(operations.find(({id}) => id === key));
        const found = find(search.value, entries);
        const part = (title, some) => some.length ? [h("h2", {}, title), ...some.map(link)] : [];
        index.replaceChildren(...part(found[0]?.isPartial ? "With most of these words" : "Found", found.filter(({isWeak}) => !isWeak)), ...part("In fields and descriptions", found.filter(({isWeak}) => isWeak)));
        if (!found.length) index.append(h("p", {class: "muted"}, "Nothing found: no operation, webhook or section of the guide has most of these words."));
    } else {
        index.replaceChildren(h("h2", {}, "Guide"), ...guide.map(sectionLink),
            ...groups.flatMap(({name}) => [h("h2", {}, name), ...operations.filter(({group}) => group === name).map(operationLink)]));
    }
}

function showSection(section) {
    main.replaceChildren(h("article", {class: "guide"}, h("h1", {}, section.title), elements(section.lines)));
}

function showWelcome(api) {
    main.replaceChildren(h("h1", {}, api.info.title), h("p", {class: "muted"}, `Version ${api.info.version}, ${operations.filter(({path}) => path).length} operations.`),
        h("p", {}, "New here? Begin with the ", h("a", {href: "#/guide/quickstart"}, "quickstart"), "."), tokenForm(), h("section", {class: "card"}, h("h2", {}, "Conventions"), prose(api.info.description)),
        h("section", {class: "card"}, h("h2", {}, "Groups"), h("dl", {}, groups.map(({name, description}) => [h("dt", {}, h("strong", {}, name)), h("dd", {class: "muted"}, description)]))));
}

function showResponse([status, reference], operation) {
    const response = resolved(reference);
    const [type, media] = Object.entries(response.content ?? {})[0] ?? [];
    return h("details", {}, h("summary", {}, h("strong", {}, status), " ", line(response.description), type && h("span", {class: "fine muted"}, ` ${type}`)),
        media && [fields(media.schema), exampleOf(media, "Example response:")]);
}

function exampleOf({example}, title) {
    if (example === undefined) return "";
    return [h("p", {class: "fine muted"}, title), h("pre", {class: "scroller", tabindex: 0}, JSON.stringify(example, null, 4))];
}

function showOperation(chosen) {
    const {path, method, operation} = chosen;
    const parameters = (operation.parameters ?? []).map(resolved);
    const [type, media] = content(operation);
    main.replaceChildren(
        h("div", {}, h("h1", {}, operation.summary), h("p", {class: "address"}, h("span", {class: "method", "data-method": method}, method), path ? copyable(path) : "to the address that the operator configures"), prose(operation.description),
            h("p", {class: "fine muted"}, !path ? ["The server sends it. The guide explains the signature and the retries: ", h("a", {href: "#/guide/webhooks"}, "Webhooks"), "."] : !operation.security?.length ? "It needs no access token." : isSignedIn() ? "It needs an access token, which this page has." : ["It needs an access token: ", h("a", {href: "#/"}, "sign in"), "."])),
        path ? requestForm(chosen) : "",
        parameters.length ? h("section", {class: "card"}, h("h2", {}, "Parameters"), h("ul", {class: "fields"}, parameters.map((parameter) => field(`${parameter.name} (${parameter.in})`, parameter.schema ?? {}, parameter.required, parameter.description)))) : "",
        media ? h("section", {class: "card"}, h("h2", {}, "Body"), h("p", {class: "fine muted"}, type), fields(media.schema), exampleOf(media, "Example request:")) : "",
        h("section", {class: "card"}, h("h2", {}, "Responses"), Object.entries(operation.responses).map((response) => showResponse(response, operation))));
}

function show(api) {
    // Links from elsewhere may leave out the slash.
    if (/^#[^/]/.test(location.hash)) history.replaceState(null, "", `#/${location.hash.slice(1)}`);
    const chosen = selected();
    const section = selectedSection();
    if (chosen) showOperation(chosen);
    else if (section) showSection(section);
    else showWelcome(api);
    app.classList.toggle("chosen", Boolean(chosen ?? section));
    openIndex(false);
    const title = chosen?.operation.summary ?? section?.title;
    document.title = title ? `${title} · Nagz API` : "Nagz API";
    showIndex();
    index.querySelector("[aria-current]")?.scrollIntoView({block: "nearest"});
    scrollTo(0, 0);
}

/** The next or previous of what the search shows. */
function step(by) {
    const links = [...index.querySelectorAll("a")];
    const next = links[links.findIndex((link) => link.hash === location.hash) + by] ?? links.at(by > 0 ? -1 : 0);
    if (next) location.hash = next.hash;
}

addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && event.target === search) {
        search.value = "";
        showIndex();
        main.focus();
    }
    if (event.key === "Enter" && event.target === search) {
        const first = index.querySelector("a");
        if (first) location.hash = first.hash;
    }
    if (event.target.closest("input, select, textarea")) return;
    if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "/") {
        event.preventDefault();
        search.focus();
    }
});

async function load(path) {
    const response = await fetch(path, {credentials: "omit"});
    if (!response.ok) throw new Error(`The server answered ${response.status}.`);
    return path.endsWith(".json") ? response.json() : response.text();
}

async function start() {
    app.replaceChildren(h("a", {class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); main.focus(); }}, "To the operation"), h("header", {class: "top"},
        h("a", {class: "brand", href: "#/"}, "Nagz API"), search,
        h("span", {class: "fine muted keys"}, h("kbd", {}, "/"), " search ", h("kbd", {}, "j"), " ", h("kbd", {}, "k"), " next, previous"),
        h("div", {class: "tools"}, menu, h("a", {class: "button ghost", href: "/openapi.json", download: "openapi.json"}, "openapi.json"), h("a", {class: "button ghost", href: "/console"}, "Console"),
            h("button", {type: "button", class: "ghost", onclick: toggleTheme}, "Theme"))), index, main);
    try {
        const [api, text] = await Promise.all(["/openapi.json", "/docs/guide.md"].map(load));
        setDocument(api);
        gather(api);
        guide = sections(text).filter(({title}) => title);
        gatherEntries();
        addEventListener("hashchange", () => { show(api); main.focus({preventScroll: true}); });
        show(api);
    } catch (error) {
        main.replaceChildren(failure(error, start));
    }
    app.removeAttribute("aria-busy");
}

start();
