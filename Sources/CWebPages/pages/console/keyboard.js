// Global keyboard shortcuts, and the list of all shortcuts.
import {isSignedIn} from "/console/api.js";
import {h} from "/console/dom.js";

const keys = [["/", "search"], ["j / k", "next, previous entry"], ["Enter", "open the entry"], ["t", "follow its trace"], ["← / →", "bars of a plot"], ["Esc", "close"], ["g o, g t, g a, g c", "overview, audit log, AI decisions, consents"], ["g p, g r, g q, g f", "policies, constraints, questions to the AI, drafts"], ["g d, g m", "deliveries, moderation"], ["Alt ↑ / ↓", "move the constraint"], ["?", "this list"]];
const goals = new Map([["o", "overview"], ["t", "trail"], ["a", "decisions"], ["c", "consents"], ["p", "policies"], ["r", "constraints"], ["q", "executions"], ["f", "drafts"], ["d", "deliveries"], ["m", "moderation"]]);
let isPrefixed = false;

export function showHelp() {
    const dialog = h("dialog", {class: "help", "aria-labelledby": "helptitle"}, h("h2", {id: "helptitle"}, "Keyboard"),
        h("dl", {}, keys.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
        h("button", {type: "button", class: "primary", onclick: () => dialog.close()}, "Close"));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
}

addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, textarea, dialog") || event.ctrlKey || event.metaKey || event.altKey || !isSignedIn()) return;
    const goal = isPrefixed && goals.get(event.key);
    isPrefixed = event.key === "g";
    if (goal) {
        event.preventDefault();
        event.stopImmediatePropagation();
        location.hash = `#/${goal}`;
    } else if (event.key === "?") showHelp();
    else if (event.key === "/" && document.getElementById("q")) {
        event.preventDefault();
        document.getElementById("q").focus();
    }
});
