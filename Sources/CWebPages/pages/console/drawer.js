// The drawer beside a view: modal, so that focus stays inside; closed by Escape, Back or its button.
import {h, icon} from "/console/dom.js";

/** Creates a drawer for one `thing`; `onClose` is called when it closes. */
export function makeDrawer(onClose, thing = "entry") {
    const head = h("header", {class: "drawerhead"});
    const body = h("div", {class: "drawerbody"});
    const button = h("button", {class: "ghost", type: "button", "aria-label": `Close the ${thing}`, onclick: () => dialog.close()}, icon("cross"));
    const dialog = h("dialog", {class: "drawer", "aria-label": `One ${thing}`}, head, body);
    let from = null;
    dialog.addEventListener("keydown", (event) => {
        if (event.key === "Tab") keepInside(event, dialog);
        else if (event.key === "Escape") {
            event.preventDefault();
            dialog.close();
        }
        event.stopPropagation();
    });
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener("close", () => {
        head.replaceChildren();
        body.replaceChildren();
        if (from?.isConnected) from.focus();
        from = null;
        onClose();
    });
    return {
        element: dialog,
        show(title, ...content) {
            head.replaceChildren(title, button);
            body.replaceChildren(...content.flat(Infinity).filter(Boolean));
            body.scrollTop = 0;
            if (!dialog.open) {
                from = document.activeElement;
                dialog.showModal();
            }
            if (!dialog.contains(document.activeElement) || document.activeElement === dialog) button.focus();
        },
        close() { if (dialog.open) dialog.close(); },
        get isOpen() { return dialog.open; },
    };
}

function keepInside(event, dialog) {
    const all = [...dialog.querySelectorAll("a[href], button:not(:disabled), input, select, textarea, summary")].filter((one) => one.checkVisibility());
    const [first, last] = [all[0], all.at(-1)];
    if (event.shiftKey && (document.activeElement === first || document.activeElement === dialog)) {
        event.preventDefault();
        last?.focus();
    } else if (!event.shiftKey && document.activeElement === last) {
        event.preventDefault();
        first?.focus();
    }
}
