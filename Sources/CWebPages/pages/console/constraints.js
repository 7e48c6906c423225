// Constraints of the AI, for guardians: the list in the order of evaluation, the form, and the simulator beside both.
import {get, me, write} from "/console/api.js";
import {word} from "/console/cards.js";
import {confirmed} from "/console/confirm.js";
import {exportConstraints, importConstraints} from "/console/constraintfile.js";
import {constraintForm, scopeNames} from "/console/constraintform.js";
import {failure, h, icon, nothing, skeleton, toast} from "/console/dom.js";
import {latest} from "/console/latest.js";
import {setFilters} from "/console/router.js";
import {simulator} from "/console/simulator.js";

export function constraints(main, state) {
    const family = state.status.family_id;
    const place = latest();
    let [items, templates, mayWriteFamily, loaded, edit, form] = [[], [], false, false, "", null];
    /** Changes of the list, one after another, so that each sees what the one before left. */
    let changes = Promise.resolve();
    const create = h("button", {type: "button", class: "primary", onclick: () => setFilters({edit: "new"})}, "New constraint");
    const tools = h("div", {class: "actions"}, create, h("button", {type: "button", onclick: () => exportConstraints(family)}, "Export"),
        h("button", {type: "button", onclick: () => importConstraints(family, (id) => items.find((one) => one.id === id)?.name ?? id, () => refresh())}, "Import"));
    const formPlace = h("div", {});
    const problem = h("p", {class: "problem", role: "alert", hidden: true});
    const list = h("ol", {class: "constraintlist", "aria-label": "Constraints in the order of evaluation"});
    const trial = simulator({family, saved: () => items, edited: () => form?.terms() && {id: edit === "new" ? null : edit, terms: form.terms()}});
    const body = h("div", {class: "constraints"});
    main.append(h("div", {class: "pagehead"}, h("h1", {}, "Constraints"), h("p", {class: "muted"}, "What the AI may do with a question in ", h("bdi", {}, state.familyName || "your family"), ".")), body);

    const mayWrite = (one) => one.scope === "own" || mayWriteFamily;
    const peers = (one) => items.filter((other) => other.scope === one.scope);

    // MARK: loading

    function load() {
        body.replaceChildren(h("div", {}, skeleton(6)));
        place.run(async (signal) => {
            const [found, members, starts] = await Promise.all([get("/ai/constraints", {family_id: family}, signal), get(`/families/${family}/members`, {}, signal), get("/ai/constraints/templates", {}, signal)]);
            return {found, members, starts};
        }, ({found, members, starts}) => {
            [items, templates, loaded] = [found.items, starts.items, true];
            mayWriteFamily = members.items.some((one) => one.user_id === me()?.id && one.role === "guardian");
            body.replaceChildren(h("div", {class: "constraintedit"}, tools, formPlace, problem, list), trial.element);
            showList();
            showForm();
        }, (error) => body.replaceChildren(failure(error, load)));
    }

    /** Loads the list again; the focus stays at the same part of the same constraint. */
    async function refresh() {
        items = (await get("/ai/constraints", {family_id: family})).items;
        if (!body.isConnected) return;
        const {part} = document.activeElement?.dataset ?? {};
        const id = document.activeElement?.closest("[data-id]")?.dataset.id;
        showList();
        if (id) focus(id, part);
        trial.run();
    }

    function focus(id, part) {
        const row = list.querySelector(`[data-id="${id}"]`);
        if (!row) return create.focus();
        const wanted = row.querySelector(`[data-part="${part}"]`);
        (wanted && !wanted.disabled ? wanted : row.querySelector("button:not(:disabled)"))?.focus();
    }

    // MARK: the list

    function showList() {
        list.replaceChildren(...items.map(row));
        if (!items.length) list.replaceChildren(h("li", {}, nothing("There is no constraint: every question is answered.")));
    }

    function row(one, index) {
        const own = peers(one);
        const at = own.indexOf(one);
        const button = (part, title, label, act, more = {}) => h("button", {type: "button", class: "small", "data-part": part, "aria-label": `${label} ${one.name}`, onclick: act, ...more}, title);
        const badges = [h("span", {class: "badge plain"}, scopeNames[one.scope]), h("span", {class: "badge plain"}, word(one.type)), !one.enabled && h("span", {class: "badge warn"}, "off"),
            h("span", {class: "muted"}, `priority ${one.priority}`)];
        const enabled = mayWrite(one) && h("label", {class: "inline"}, h("input", {type: "checkbox", role: "switch", "data-part": "enabled", checked: one.enabled, "aria-label": `${one.name} is on`,
            onchange: (event) => change(() => write("PATCH", `/ai/constraints/${one.id}`, {enabled: event.target.checked}))}), "On");
        return h("li", {class: "card decision constraint", "data-id": one.id, ...mayWrite(one) && {onkeydown: (event) => {
            const by = {ArrowUp: -1, ArrowDown: 1}[event.key];
            if (!by || !event.altKey) return;
            event.preventDefault();
            move(one.id, by);
        }}},
        h("header", {}, h("h3", {}, `${index + 1}. `, h("bdi", {}, one.name)), enabled), h("div", {class: "factrow"}, badges), h("p", {class: "rule"}, h("bdi", {}, one.plain_text)),
        mayWrite(one) && h("footer", {}, button("up", icon("up"), "Move up", () => move(one.id, -1), {disabled: at === 0, "aria-keyshortcuts": "Alt+ArrowUp"}), button("down", icon("lower"), "Move down", () => move(one.id, 1), {disabled: at === own.length - 1, "aria-keyshortcuts": "Alt+ArrowDown"}),
            button("edit", "Edit", "Edit", () => setFilters({edit: one.id})), button("delete", "Delete", "Delete", () => remove(one))));
    }

    // MARK: changes

    /** Does something to the list, after what was begun before; then shows what there is now. */
    function change(act) {
        changes = changes.then(async () => {
            problem.hidden = true;
            try {
                await act();
            } catch (error) {
                problem.textContent = error.message;
                problem.hidden = false;
            }
            await refresh();
        }).catch((error) => toast(error.message, "bad"));
    }

    function move(id, by) {
        change(async () => {
            const one = items.find((other) => other.id === id);
            const other = one && peers(one)[peers(one).indexOf(one) + by];
            if (!other) return;
            await write("POST", "/ai/constraints/order", {ids: by < 0 ? [id, other.id] : [other.id, id]});
            toast(`${one.name}: ${by < 0 ? "before" : "after"} ${other.name}`);
        });
    }

    async function remove(one) {
        if (!await confirmed("Delete this constraint?", [h("bdi", {}, one.name), ": ", h("bdi", {}, one.plain_text)], "Delete")) return;
        change(async () => {
            await write("DELETE", `/ai/constraints/${one.id}`);
            toast("Deleted", "good");
            if (edit === one.id) setFilters({edit: ""});
        });
    }

    // MARK: the form

    function showForm() {
        const constraint = items.find((one) => one.id === edit && mayWrite(one));
        const before = form && formPlace.dataset.edit;
        form = edit === "new" || constraint ? constraintForm({
            family, constraint: constraint ?? null, all: items, templates, scopes: mayWriteFamily ? ["family", "own"] : ["own"], changed: () => trial.later(),
            again: load, close: () => setFilters({edit: ""}),
            async saved(answer) {
                setFilters({edit: ""});
                await refresh();
                focus(answer.id, "edit");
            },
        }) : null;
        formPlace.dataset.edit = edit;
        formPlace.replaceChildren(...form ? [form.element] : []);
        formPlace.hidden = !form;
        if (form) form.focus();
        else if (before) focus(before, "edit");
        trial.run();
    }

    return {
        update(params) {
            edit = params.get("edit") || "";
            if (loaded) showForm();
            else load();
        },
        leave() {
            place.stop();
            trial.stop();
        },
    };
}
