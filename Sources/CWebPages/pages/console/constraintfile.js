// Constraints as a file: the export, and the import, which is tried before it is done.
import {get, write} from "/console/api.js";
import {word} from "/console/cards.js";
import {h, toast} from "/console/dom.js";
import {download} from "/console/export.js";
import {latest} from "/console/latest.js";
import {short8} from "/console/people.js";

export async function exportConstraints(family) {
    try {
        const found = await get("/ai/constraints/export", {family_id: family});
        download([JSON.stringify(found, null, 2), "\n"], `nagz-constraints-${short8(family)}.json`);
        toast(found.constraints.length === 1 ? "One constraint exported" : `${found.constraints.length} constraints exported`, "good");
    } catch (error) {
        toast(`The export failed: ${error.message}`, "bad");
    }
}

/** Asks for a file, shows what its import would do, and does it. `nameOf(id)` names a constraint that exists; `done()` is called after the import. */
export function importConstraints(family, nameOf, done) {
    const place = latest();
    let found = null;
    const file = h("input", {type: "file", id: "importfile", accept: ".json,application/json", onchange: tryIt});
    const outcome = h("div", {class: "outcome", role: "status"});
    const problem = h("p", {class: "problem", role: "alert", hidden: true});
    const button = h("button", {type: "button", class: "primary", disabled: true, onclick: doIt}, "Import");
    const dialog = h("dialog", {class: "help", "aria-labelledby": "importtitle"}, h("h2", {id: "importtitle"}, "Import constraints"),
        h("p", {class: "muted"}, "The constraints of the file are added to the existing ones: all of them, or none."),
        h("div", {class: "field"}, h("label", {for: "importfile"}, "File"), file), outcome, problem,
        h("div", {class: "actions"}, button, h("button", {type: "button", onclick: () => dialog.close()}, "Cancel")));
    const send = (isTrial, signal) => write("POST", `/ai/constraints/import?family_id=${encodeURIComponent(family)}&dry_run=${isTrial}`, found, null, signal);

    function tryIt() {
        clear();
        const [chosen] = file.files;
        if (!chosen) return place.stop();
        place.run(async (signal) => {
            try {
                found = JSON.parse(await chosen.text());
            } catch {
                throw new Error("This file is not JSON. Choose one that was exported here.");
            }
            return send(true, signal);
        }, show, refuse);
    }
    function clear() {
        found = null;
        button.disabled = true;
        problem.hidden = true;
        outcome.replaceChildren();
    }
    function show(answer) {
        const list = (items) => h("ul", {class: "terms"}, items);
        outcome.replaceChildren(h("h3", {}, answer.imported === 1 ? "It would add one constraint" : `It would add ${answer.imported} constraints`),
            list(found.constraints.map((one) => h("li", {}, h("b", {}, h("bdi", {}, one.name)), ` ${word(one.scope)}, ${one.type}, priority ${one.priority}`))),
            ...answer.reordered.length ? [h("h3", {}, "These would move down"), list(answer.reordered.map((one) => h("li", {}, h("bdi", {}, nameOf(one.id)), ` to priority ${one.priority}`)))] : []);
        button.disabled = !answer.imported;
    }
    function refuse(error) {
        const name = found?.constraints?.[/^constraints\[(\d+)\]/.exec(error.field)?.[1]]?.name;
        problem.replaceChildren(...typeof name === "string" ? ["Refused because of ", h("bdi", {}, name), ": "] : [], error.message);
        problem.hidden = false;
    }
    async function doIt() {
        button.disabled = true;
        problem.hidden = true;
        try {
            const {imported} = await send(false);
            toast(imported === 1 ? "One constraint imported" : `${imported} constraints imported`, "good");
            dialog.close();
            done();
        } catch (error) {
            refuse(error);
            button.disabled = false;
        }
    }
    dialog.addEventListener("close", () => {
        place.stop();
        dialog.remove();
    });
    document.body.append(dialog);
    dialog.showModal();
}
