// Exports: the filtered entries, for spreadsheets or programs, and the whole audit log with its proofs.
import {lines} from "/console/api.js";
import {h, icon, number, tenths, toast} from "/console/dom.js";
import {short8} from "/console/people.js";

const megabytes = (bytes) => `${tenths(bytes / 1_048_576)} MB`;

/** Gives the reader a file of these parts. */
export function download(parts, name) {
    const url = URL.createObjectURL(new Blob(parts, {type: "application/octet-stream"}));
    const link = h("a", {href: url, download: name});
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** A menu of exports. `wanted()` returns {query} from the filters, or {problem}. */
export function exportMenu(wanted) {
    const text = h("span", {}, "Export");
    const progress = h("progress", {hidden: true, "aria-label": "Export"});
    const item = (id, title, note, act) => h("button", {type: "button", id, onclick: async () => {
        menu.open = false;
        summary.focus();
        await act();
    }}, h("b", {}, title), h("small", {class: "muted"}, note));
    const found = (format) => {
        const {query, problem} = wanted();
        if (problem) return toast(problem, "bad");
        return exported("/audit/events/export", {...query, format}, `nagz-entries.${format}`, format === "csv" ? 1 : 0);
    };
    const summary = h("summary", {class: "button", id: "exports"}, icon("download"), text, progress);
    const menu = h("details", {class: "menu", onkeydown: (event) => {
        if (event.key !== "Escape" || !menu.open) return;
        event.stopPropagation();
        menu.open = false;
        summary.focus();
    }, onfocusout: (event) => { if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false; }}, summary, h("div", {class: "menuitems"},
        item("exportcsv", "The entries of this list, as CSV", "for a spreadsheet; formulas become text", () => found("csv")),
        item("exportndjson", "The entries of this list, as NDJSON", "one JSON object a line", () => found("ndjson")),
        item("export", "The whole audit log, with its proofs", "for “nagz audit verify”; filters are not applied", () => {
            const family = wanted().query?.family_id;
            return exported("/audit/export", {family_id: family}, `nagz-audit-log-${family ? short8(family) : "all"}.ndjson`, 0);
        })));

    async function exported(path, query, name, heads) {
        if (!progress.hidden) return toast("An export is already running. Wait for its end.");
        progress.hidden = false;
        try {
            const {parts, bytes, count} = await lines(path, query, (bytes, count) => { text.textContent = `${number(count)} lines, ${megabytes(bytes)}`; });
            download(parts, name);
            toast(`${number(count - heads)} lines exported, ${megabytes(bytes)}`, "good");
        } catch (error) {
            toast(`The export failed: ${error.message}`, "bad");
        } finally {
            progress.hidden = true;
            text.textContent = "Export";
        }
    }
    return menu;
}
