// The API guide, a Markdown document, as elements: headings, paragraphs, tables, lists, code and links.
import {h} from "/console/dom.js";

/** The name by which links reach a heading. */
export const anchor = (title) => title.toLowerCase().replace(/[^\p{L}\p{N}\-_ ]/gu, "").replaceAll(" ", "-");

/** The sections under headings of the second level: title, anchor, and lines. What stands before them has no title. */
export function sections(markdown) {
    const found = [{title: "", anchor: "", lines: []}];
    let isCode = false;
    for (const line of markdown.split("\n")) {
        if (line.startsWith("```")) isCode = !isCode;
        if (!isCode && line.startsWith("## ")) found.push({title: line.slice(3), anchor: anchor(line.slice(3)), lines: []});
        else found.at(-1).lines.push(line);
    }
    return found;
}

/** The text of a section's lines without its code. */
export function textOf(lines) {
    let isCode = false;
    return lines.filter((line) => {
        const isFence = line.startsWith("```");
        if (isFence) isCode = !isCode;
        return !isCode && !isFence;
    }).join(" ");
}

/** Where a link of the guide leads on this page; nothing for other files of the repository. */
function address(target) {
    if (target.startsWith("#")) return `#/guide/${target.slice(1)}`;
    if (target === "openapi.json") return "/openapi.json";
    return /^https?:/.test(target) ? target : undefined;
}

/** A line of text with code, bold words and links. */
export function inline(text) {
    return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/).map((part) => {
        if (part.startsWith("`")) return h("code", {}, part.slice(1, -1));
        if (part.startsWith("**")) return h("strong", {}, inline(part.slice(2, -2)));
        const [, words, target] = part.match(/^\[([^\]]+)\]\(([^)]+)\)$/) ?? [];
        if (!words) return part;
        const href = address(target);
        return href ? h("a", {href}, inline(words)) : inline(words);
    });
}

const cells = (row) => row.slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));

function table(rows) {
    const [head, , ...body] = rows.map(cells);
    return h("div", {class: "scroller", tabindex: 0}, h("table", {}, h("thead", {}, h("tr", {}, head.map((cell) => h("th", {scope: "col"}, inline(cell))))),
        h("tbody", {}, body.map((row) => h("tr", {}, row.map((cell) => h("td", {}, inline(cell))))))));
}

/** The elements of a section's lines. */
export function elements(lines) {
    const made = [];
    for (let at = 0; at < lines.length;) {
        const first = lines[at];
        const take = (belongs) => {
            const begin = at;
            while (at < lines.length && belongs(lines[at])) at += 1;
            return lines.slice(begin, at);
        };
        if (first.startsWith("```")) {
            at += 1;
            made.push(h("pre", {class: "scroller", tabindex: 0}, take((line) => !line.startsWith("```")).join("\n")));
            at += 1;
        } else if (first.startsWith("|")) made.push(table(take((line) => line.startsWith("|"))));
        else if (/^#+ /.test(first)) made.push(h(`h${first.indexOf(" ")}`, {}, inline(take((line) => line === first)[0].replace(/^#+ /, ""))));
        else if (/^(- |\d+\. )/.test(first)) {
            const items = take((line) => /^(- |\d+\. |  )/.test(line)).join("\n").split(/\n(?=- |\d+\. )/);
            made.push(h(first.startsWith("-") ? "ul" : "ol", {class: "list"}, items.map((item) => h("li", {}, inline(item.replace(/^(- |\d+\. )/, "").replaceAll("\n", " "))))));
        } else if (first.trim()) made.push(h("p", {}, inline(take((line) => line.trim() && !/^(```|\||#+ |- |\d+\. )/.test(line)).join(" "))));
        else at += 1;
    }
    return made;
}
