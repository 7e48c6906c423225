// Consents: what is in force, and how it came to be, from the trail itself.
import {entries} from "/console/api.js";
import {openDetail} from "/console/detail.js";
import {ago, failure, familyName, h, icon, nobody, person, skeleton, time} from "/console/dom.js";

const titles = {ai_mediation: "AI mediation", child_account_creation: "Children's accounts", gamification_participation: "Points and badges", sms_opt_in: "Text messages"};

export function consents(main, state, params) {
    const isAdmin = state.status.reader === "admin";
    const families = state.families.filter((family) => family.family_id !== nobody);
    const family = isAdmin ? params.get("family_id") || families[0]?.family_id : state.status.family_id;
    const drawer = h("aside", {class: "drawer", role: "dialog", "aria-label": "Entry", hidden: true});
    const now = h("section", {class: "tiles", "aria-label": "In force"}, skeleton(1));
    const history = h("ol", {class: "history"}, skeleton(4));
    main.append(h("div", {class: "pagehead"}, h("h1", {}, "Consents"), isAdmin && h("label", {class: "inline"}, h("span", {}, "Family"), h("select", {onchange: (event) => { location.hash = `#/consents?family_id=${event.target.value}`; }},
        families.map((one) => h("option", {value: one.family_id, selected: one.family_id === family}, familyName(one.family_id)))))),
        now, h("h2", {}, "History"), history, drawer);
    if (!family) {
        now.replaceChildren();
        history.replaceChildren(h("div", {class: "empty"}, h("p", {}, "There is no family yet.")));
        return;
    }
    load(family, state, now, history, drawer);
}

async function load(family, state, now, history, drawer) {
    try {
        const page = await entries({family_id: family, q: "consent.", limit: 200});
        if (!history.isConnected) return;
        const kind = (entry) => entry.details?.consent_type || entry.details?.type || "consent";
        const last = new Map();
        for (const entry of page.items) if (!entry.kind.endsWith(".denied") && !last.has(kind(entry))) last.set(kind(entry), entry);
        now.replaceChildren(...Object.keys(titles).map((type) => {
            const entry = last.get(type);
            const isGiven = entry?.kind === "consent.granted";
            return h("div", {class: `card tile consent ${isGiven ? "given" : ""}`}, h("span", {class: "muted"}, titles[type]),
                h("strong", {}, icon(isGiven ? "check" : "cross"), isGiven ? "In force" : entry ? "Revoked" : "Never given"), h("small", {class: "muted"}, entry ? ago(entry.at) : ""));
        }));
        history.replaceChildren(...page.items.map((entry) => {
            const row = h("li", {class: entry.kind.split(".")[1]}, h("button", {type: "button", onclick: () => openDetail(drawer, state, entry.family_id, entry.n, () => row.querySelector("button").focus())},
                h("b", {}, titles[kind(entry)] || kind(entry)), ` ${entry.kind === "consent.granted" ? "given" : entry.kind === "consent.revoked" ? "revoked" : "refused"} by `, person(entry.actor, entry.actor_id), time(entry.at)));
            return row;
        }));
        if (!page.items.length) history.replaceChildren(h("div", {class: "empty"}, h("p", {}, "No consent was ever given or revoked here.")));
    } catch (error) {
        history.replaceChildren(failure(error, () => load(family, state, now, history, drawer)));
    }
}
