// What verifications on request have found and the server keeps, for administrators: each with the form that acknowledges it.
import {get, write} from "/console/api.js";
import {failure, h, toast} from "/console/dom.js";
import {field, form} from "/console/form.js";
import {latest} from "/console/latest.js";
import {address} from "/console/router.js";
import {time} from "/console/time.js";
import {updateKeptFindings} from "/console/trust.js";

/** Shows the open findings in `box`; `show(count)` is called with the server's count, and loads them when it has changed. */
export function keptFindings(box) {
    const place = latest();
    let shown = 0;
    const load = () => place.run((signal) => get("/audit/findings", {open: true}, signal), (page) => {
        const hadFocus = box.contains(document.activeElement);
        shown = page.total;
        box.replaceChildren(...page.items.map((one) => card(one, load)));
        if (hadFocus) (box.querySelector("textarea") ?? box).focus();
        updateKeptFindings(page.total);
    }, (error) => box.replaceChildren(failure(error, load)));
    return {
        show(count) {
            if (count === shown) return;
            shown = count;
            if (count) load(); else box.replaceChildren();
        },
        stop: () => place.stop(),
    };
}

function card(one, again) {
    const href = one.n && address("trail", {family_id: one.family_id, open: `${one.family_id}/${one.n}`});
    const reason = field("reason", "Reason", h("textarea", {name: "reason", rows: "2", maxlength: "500", dir: "auto"}), "What was found out, and what is done about it. It is in the audit log.");
    return h("article", {class: "card", "data-id": one.id}, h("p", {}, time(one.found_at), " ", h("bdi", {}, one.message), " ", href && h("a", {href}, "Open the entry")),
        form({key: `finding ${one.id}`, fields: [reason], button: "Acknowledge", again, saved: again, save: async () => {
            const answer = await write("POST", `/audit/findings/${one.id}/acknowledge`, {reason: reason.read().trim()});
            toast("The finding is acknowledged", "good");
            return answer;
        }}));
}
