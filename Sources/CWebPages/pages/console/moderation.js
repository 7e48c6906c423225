// Moderation, for administrators: the queue of abuse reports with their review targets.
import {get} from "/console/api.js";
import {cardList, fact, statusLinks, word} from "/console/cards.js";
import {h} from "/console/dom.js";
import {makeDrawer} from "/console/drawer.js";
import {latest} from "/console/latest.js";
import {family, short8} from "/console/people.js";
import {onPoll} from "/console/poll.js";
import {reportContent} from "/console/report.js";
import {address, closeDrawer, openDrawer} from "/console/router.js";
import {span, time} from "/console/time.js";

const statuses = ["open", "investigating", "resolved", "dismissed", "all"];
const isClosed = (status) => status === "resolved" || status === "dismissed";

export function moderation(main) {
    const links = statusLinks(statuses, (status) => address("moderation", {status: status === "open" ? "" : status}), (status) => (status === "open" ? "To review" : word(status)));
    const list = cardList({path: "/admin/abuse-reports", label: "Abuse reports, oldest first", empty: "No abuse report has this status.", card, onLoad: () => show()});
    const drawer = makeDrawer(() => closeDrawer("report"), "abuse report");
    main.append(h("div", {class: "pagehead"}, h("h1", {}, "Moderation"), h("p", {class: "muted"}, "Abuse reports, oldest first. The audit log records who reads one.")), links.element, ...list.elements, drawer.element);
    const single = latest();
    let asked = null;
    let [status, open, stopHistory] = [null, "", () => {}];
    const stopRounds = onPoll(() => {
        for (const one of main.querySelectorAll("[data-due]")) showDue(one);
    });

    function card(one) {
        const words = [...one.reason];
        return h("article", {class: "card decision", "data-id": one.id},
            h("header", {}, h("h3", {}, "Report ", h("code", {class: "muted"}, short8(one.id))), time(one.created_at)),
            h("p", {class: "rule"}, h("bdi", {}, words.length > 160 ? `${words.slice(0, 160).join("")} …` : one.reason)),
            h("div", {class: "factrow"}, badge(one.status), severity(one), due(one)),
            h("div", {class: "factrow"}, fact("family", one.family_id ? h("a", {href: address("trail", {family_id: one.family_id})}, family(one.family_id)) : "none in common")),
            h("footer", {}, h("button", {type: "button", class: "small", "aria-label": `Open report ${short8(one.id)}`, onclick: () => openReport(one.id)}, "Open")));
    }

    function openReport(id) {
        openDrawer("report", id);
        // The address is the same again before the page has heard of the step back that closed the drawer.
        if (drawer.isOpen) return;
        open = id;
        show();
    }

    /** Shows the report that the address names; one that is not in the list is asked for. */
    function show(changed) {
        stopHistory();
        stopHistory = () => {};
        if (!open) return drawer.close();
        if (changed) asked = changed;
        const one = [changed, list.find(open), asked].find((known) => known?.id === open);
        const title = (...text) => h("div", {}, h("span", {class: "muted"}, ...text), h("h2", {}, "Abuse report"));
        if (!one) {
            drawer.show(title(short8(open)), h("p", {role: "status"}, "Loading …"));
            const id = open;
            return single.run((signal) => get(`/admin/abuse-reports/${encodeURIComponent(id)}`, {}, signal), (answer) => open === id && show(answer),
                (error) => open === id && drawer.show(title(short8(id)), h("p", {role: "alert"}, error.message)));
        }
        const {content, stop} = reportContent(one, {badge, severity, due, saved, again});
        stopHistory = stop;
        drawer.show(title(short8(one.id), " · reported ", time(one.created_at)), content);
    }
    function saved(answer) {
        list.update(answer);
        show(answer);
    }
    /** A report whose status has changed elsewhere is in another list. */
    function again() {
        if (status === "all") list.load({});
        else location.replace(address("moderation", {status: "all", report: open}));
    }

    return {
        update(params) {
            open = params.get("report") || "";
            const wanted = statuses.includes(params.get("status")) ? params.get("status") : statuses[0];
            if (wanted === status) return show();
            status = wanted;
            links.set(status);
            list.load({status: status === "all" ? "" : status});
        },
        leave() {
            stopHistory();
            stopRounds();
            single.stop();
            list.leave();
        },
    };
}

const badge = (status) => h("span", {class: `badge ${isClosed(status) ? "" : "warn"}`}, status);

const severity = (one) => h("span", {class: `badge ${one.severity === "critical" ? "bad" : "plain"}`}, one.severity);

/** The review target, and how much of it is left; none for a review that has ended. */
function due(one) {
    const target = Date.parse(one.review_due_at) - Date.parse(one.created_at);
    const element = !isClosed(one.status) && h("b", {"data-due": one.review_due_at});
    if (element) showDue(element);
    return fact("review target", span(target), element);
}

function showDue(element) {
    const left = Date.parse(element.dataset.due) - Date.now();
    element.textContent = left < 0 ? `overdue by ${span(-left)}` : `${span(left)} left`;
    element.className = left < 0 ? "problemtext" : "goodtext";
}
