// Asks before something is done.
import {h} from "/console/dom.js";

/** Shows the question; true when it was answered with `yes`. Escape is no. */
export function confirmed(question, text, yes) {
    return new Promise((answer) => {
        const close = (value) => () => dialog.close(value);
        const dialog = h("dialog", {class: "help", "aria-labelledby": "question", "aria-describedby": "questiontext"},
            h("h2", {id: "question"}, question), h("p", {id: "questiontext"}, text),
            h("div", {class: "actions"}, h("button", {type: "button", class: "primary", onclick: close("yes")}, yes), h("button", {type: "button", onclick: close("")}, "Cancel")));
        dialog.addEventListener("close", () => {
            dialog.remove();
            answer(dialog.returnValue === "yes");
        });
        document.body.append(dialog);
        dialog.showModal();
    });
}
