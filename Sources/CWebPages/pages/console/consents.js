// Consents: those in force for each person, from the server, and their history, from the audit log.
import {entries, get} from "/console/api.js";
import {familyPicker} from "/console/choices.js";
import {failure, h, icon, nothing, skeleton} from "/console/dom.js";
import {latest} from "/console/latest.js";
import {loadFamilyName, loadPeople, nobody, person, roleName} from "/console/people.js";
import {openEntry, setFilters} from "/console/router.js";
import {ago, time} from "/console/time.js";

const titles = {ai_mediation: "AI mediation", gamification_participation: "Points and badges", sms_opt_in: "Text messages", child_account_creation: "Account for a child"};
const members = ["guardian", "participant", "child"];

export function consents(main, state) {
    const isAdmin = state.status.reader === "admin";
    const place = latest();
    const picker = isAdmin && familyPicker(null, (family_id) => setFilters({family_id}));
    const now = h("section", {class: "cards", "aria-label": "In force"});
    const history = h("ol", {class: "history"});
    main.append(h("div", {class: "pagehead"}, h("h1", {}, "Consents"), picker && picker.element), h("h2", {}, "In force"), now, h("h2", {}, "History"), history);

    function load(wanted) {
        now.replaceChildren(...skeleton(2));
        history.replaceChildren(...skeleton(4));
        place.run(async (signal) => {
            const family = isAdmin ? wanted || await familyOfNewestConsent(signal) : state.status.family_id;
            if (!family) return null;
            const [page, people, inForce] = await Promise.all([entries({family_id: family, q: "consent.", limit: 200}, signal), loadPeople(family, signal),
                get("/audit/consents", {family_id: family}, signal), loadFamilyName(isAdmin && family, signal)]);
            return {family, people, inForce: inForce.items, page};
        }, (found) => {
            if (!found) {
                now.replaceChildren(nothing("No family has given a consent yet."));
                return history.replaceChildren();
            }
            if (picker) picker.set(found.family);
            now.replaceChildren(...found.people.filter((one) => members.includes(one.role)).map((one) => card(one, found.inForce)));
            const shown = found.page.items.filter((entry) => entry.kind.startsWith("consent."));
            history.replaceChildren(...shown.map(line));
            if (!shown.length) history.replaceChildren(nothing("No consent has been given or revoked yet."));
            if (found.page.next_cursor) history.append(h("li", {class: "muted"}, "The audit log has older ones."));
        }, (error) => {
            now.replaceChildren(failure(error, () => load(wanted)));
            history.replaceChildren();
        });
    }
    return {update(params) { load(params.get("family_id") || ""); }, leave: place.stop};
}

async function familyOfNewestConsent(signal) {
    const page = await entries({q: "consent.", limit: 1}, signal);
    return page.items.find((one) => one.family_id !== nobody)?.family_id;
}

/** One person with all types of consent. */
function card(one, inForce) {
    const types = Object.keys(titles).filter((type) => one.role === "child" || type !== "child_account_creation");
    return h("article", {class: "card consent"}, h("header", {}, h("h3", {}, person(one.person)), h("span", {class: "muted"}, roleName(one.role))),
        h("ul", {}, types.map((type) => {
            const given = inForce.filter((consent) => consent.person === one.person && consent.consent_type === type);
            return h("li", {class: given.length ? "given" : ""}, icon(given.length ? "check" : "cross"), h("div", {}, h("b", {}, titles[type]), h("span", {class: "muted"}, given.length ? " in force" : " not in force"),
                given.map((consent) => h("small", {class: "muted"}, "given by ", person(consent.given_by), ` ${ago(consent.granted_at)}`))));
        })));
}

function line(entry) {
    const type = entry.details?.consent_type || entry.details?.type || "consent";
    const [, act] = entry.kind.split(".");
    const text = entry.kind.endsWith(".denied") ? "refused to" : act === "granted" ? "given by" : act === "revoked" ? "revoked by" : `${act} by`;
    return h("li", {class: act}, h("button", {type: "button", onclick: () => openEntry(entry.family_id, entry.n)},
        h("b", {}, Object.hasOwn(titles, type) ? titles[type] : h("bdi", {}, type)), ` ${text} `, person(entry.actor), time(entry.at)));
}
