// Deliveries, for administrators: dead letters first, which can be sent again.
import {write} from "/console/api.js";
import {cardList, fact, statusLinks, word} from "/console/cards.js";
import {confirmed} from "/console/confirm.js";
import {h, number, toast} from "/console/dom.js";
import {family, short8} from "/console/people.js";
import {address} from "/console/router.js";
import {time} from "/console/time.js";

const statuses = ["failed", "dropped", "pending", "sent", "delivered", "all"];
// What the list asks for where that is not the status alone.
const filters = {failed: {status: "failed", dropped: "false"}, dropped: {status: "failed", dropped: "true"}, all: {status: ""}};
const isDeadLetter = (one) => one.status === "failed" && !one.dropped;
const channels = {push: "Push", sms: "SMS"};

export function deliveries(main) {
    const links = statusLinks(statuses, (status) => address("deliveries", {status: status === statuses[0] ? "" : status}), (status) => (status === "failed" ? "Dead letters" : word(status)));
    const list = cardList({path: "/admin/deliveries", label: "Deliveries, newest first", empty: "No delivery has this status.", card, comesFirst: isDeadLetter});
    main.append(h("div", {class: "pagehead"}, h("h1", {}, "Deliveries"), h("p", {class: "muted"}, "Notifications, newest first, without their text. A dead letter could not be delivered: resend it when its error is mended. A dropped notification was not needed any more.")),
        links.element, ...list.elements);

    function card(one) {
        const problem = h("p", {class: "problem", role: "alert", hidden: true});
        const button = one.status === "failed" && h("button", {type: "button", class: "small", "aria-label": `Resend delivery ${short8(one.id)}`, onclick: () => resend(one, button, problem)}, "Resend");
        const auditLog = (name, value, ...text) => h("a", {href: address("trail", {[name]: value})}, ...text);
        return h("article", {class: "card decision", "data-id": one.id, tabindex: "-1"},
            h("header", {}, h("h3", {}, channels[one.channel] ?? one.channel, " ", h("code", {class: "muted"}, short8(one.id))), time(one.created_at)),
            h("div", {class: "factrow"}, h("span", {class: `badge ${["sent", "delivered"].includes(one.status) ? "" : "warn"}`}, one.status),
                isDeadLetter(one) && h("span", {class: "badge bad"}, "dead letter"), one.dropped && h("span", {class: "badge warn"}, "dropped: not needed any more"),
                fact("attempts", number(one.attempts)), one.repeats > 0 && fact("reminders", number(one.repeats)),
                one.next_attempt_at && fact(one.status === "pending" ? "next try" : "next reminder", time(one.next_attempt_at))),
            one.failure && h("p", {class: "rule"}, h("span", {class: "muted"}, "Last error: "), h("bdi", {}, one.failure)),
            h("div", {class: "factrow"}, one.cause && fact("cause", h("code", {}, one.cause)),
                fact(one.cause?.startsWith("connection_") ? "connection" : "family", auditLog("family_id", one.family_id, family(one.family_id))), one.nag_id && fact("nag", auditLog("resource_id", one.nag_id, h("code", {}, short8(one.nag_id)))),
                fact("recipient", auditLog("person_id", one.user_id, h("code", {}, short8(one.user_id))))),
            problem,
            h("footer", {}, button, h("a", {class: "button small", href: address("trail", {resource_id: one.id}), "aria-label": `Audit log of delivery ${short8(one.id)}`}, "Audit log")));
    }

    async function resend(one, button, problem) {
        problem.hidden = true;
        if (!await confirmed("Send it again?", "It becomes pending with new attempts. Membership, consent and the nag are checked before it is sent. The audit log records that you sent it again.", "Send again")) return;
        button.disabled = true;
        try {
            const answer = await write("POST", `/admin/deliveries/${one.id}/resend`);
            list.update(answer)?.focus();
            toast(`Delivery ${short8(answer.id)} is ${answer.status}`, "good");
        } catch (error) {
            problem.textContent = error.message;
            problem.hidden = false;
            button.disabled = false;
        }
    }

    return {
        update(params) {
            const status = statuses.includes(params.get("status")) ? params.get("status") : statuses[0];
            links.set(status);
            list.load(filters[status] ?? {status});
        },
        leave: list.leave,
    };
}
