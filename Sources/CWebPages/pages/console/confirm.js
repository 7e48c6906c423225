// Asks before something is done.
import {h} from "/console/dom.js";

/** Shows the question with its content, which scrolls if it is long; true when it was answered with `yes`. Escape is no. */
export function confirmed(question, content, yes) {
    return new Promise((answer) => {
        const close = (value) => () => dialog.close(value);
        const text = h("div", {id: "questiontext", class: "questiontext"}, content);
        const dialog = h("dialog", {class: "help", "aria-labelledby": "question", "aria-describedby": "questiontext"},
            h("h2", {id: "question"}, question), text,
            h("div", {class: "actions"}, h("button", {type: "button", class: "primary", autofocus: true, onclick: close("yes")}, yes), h("button", {type: "button", onclick: close("")}, "Cancel")));
        dialog.addEventListener("close", () => {
            dialog.remove();
            answer(dialog.returnValue === "yes");
        });
        document.body.append(dialog);
        dialog.showModal();
        // Who has no mouse scrolls it by the arrows.
        if (text.scrollHeight > text.clientHeight) text.tabIndex = 0;
    });
}
