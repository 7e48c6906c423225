// Policies, for guardians: what is in force, what is proposed beside it, and the form that proposes a change.
import {get, me, write} from "/console/api.js";
import {fact} from "/console/cards.js";
import {confirmed} from "/console/confirm.js";
import {failure, h, nothing, skeleton, toast} from "/console/dom.js";
import {latest} from "/console/latest.js";
import {named, roleName, short8} from "/console/people.js";
import {limitName, proposalForm, sentence} from "/console/proposal.js";
import {ago, time} from "/console/time.js";

export function policies(main, state) {
    const place = latest();
    const body = h("div", {class: "policies"});
    main.append(h("div", {class: "pagehead"}, h("h1", {}, "Policies"), h("p", {class: "muted"}, h("bdi", {}, state.familyName || "Your family"))), body);
    const family = state.status.family_id;

    function load() {
        body.replaceChildren(...skeleton(6));
        place.run(async (signal) => {
            const [policies, members] = await Promise.all([get("/policies", {family_id: family}, signal), get(`/families/${family}/members`, {}, signal)]);
            return {policies: policies.items, members: members.items};
        }, ({policies, members}) => {
            body.replaceChildren(...policies.map((policy) => section(policy, members)));
            if (!policies.length) body.replaceChildren(nothing("The family has no policy."));
        }, (error) => body.replaceChildren(failure(error, load)));
    }

    function section(policy, members) {
        const nameOf = (id) => members.find((one) => one.user_id === id)?.display_name?.trim() || `Person ${short8(id)}`;
        const people = (ids) => (ids.length ? ids.map((id) => named(id, nameOf(id))) : h("span", {class: "muted"}, "nobody"));
        const replaced = h("section", {class: "policy", "data-id": policy.id, "aria-label": "Policy"});
        const saved = (answer) => replaced.replaceWith(section(answer, members));
        replaced.append(
            h("div", {class: "cards"}, inForce(policy, people), proposed(policy, people, load), memberCard(policy, members, nameOf)),
            h("article", {class: "card"}, h("h2", {}, "Propose a change"), policy.owners.includes(me()?.id) ? proposalForm(policy, members, nameOf, saved, load)
                : h("p", {class: "muted"}, "Only an owner of the policy can propose a change. Ask one of them.")));
        return replaced;
    }

    return {update: load, leave: place.stop};
}

const heading = (text, note) => h("header", {}, h("h2", {}, text), h("span", {class: "muted"}, note));

function inForce(policy, people) {
    return h("article", {class: "card decision", "data-part": "force"}, heading("In force", `version ${policy.version}`),
        h("ul", {class: "terms"}, Object.entries(policy.constraints).map(([name, value]) => h("li", {}, sentence(name, value)))),
        h("div", {class: "factrow"}, fact("owners", people(policy.owners)), fact("template", policy.strategy_template.replaceAll("_", " "))));
}

/** The proposal, with what it changes, and Approve for those whose approval it may need. */
function proposed(policy, people, load) {
    const {proposal} = policy;
    if (!proposal) return h("article", {class: "card decision", "data-part": "proposal"}, heading("Proposed", ""), h("p", {class: "muted"}, "Nothing is proposed."));
    const names = [...new Set([...Object.keys(policy.constraints), ...Object.keys(proposal.constraints)])];
    const waiting = [...new Set([...policy.owners, ...proposal.owners])].filter((id) => !proposal.approved_by.includes(id));
    const hasOtherOwners = [...policy.owners].sort().join() !== [...proposal.owners].sort().join();
    const problem = h("p", {class: "problem", role: "alert", hidden: true});
    const button = waiting.includes(me()?.id) && h("button", {type: "button", class: "primary", onclick: approve}, "Approve");
    const again = h("button", {type: "button", class: "small", hidden: true, onclick: load}, "Load again");

    async function approve() {
        problem.hidden = again.hidden = true;
        if (!await confirmed("Approve this change?", "It is in force as soon as every owner has approved it.", "Approve")) return;
        button.disabled = true;
        try {
            await write("POST", `/policies/${policy.id}/approvals`, null, policy.etag);
            toast("Approved", "good");
            load();
        } catch (error) {
            problem.textContent = error.message;
            problem.hidden = again.hidden = false;
            button.disabled = false;
        }
    }

    return h("article", {class: "card decision", "data-part": "proposal"}, heading("Proposed", ["", time(proposal.proposed_at), ` ${ago(proposal.proposed_at)}`]),
        h("ul", {class: "terms"}, names.map((name) => changeLine(name, policy.constraints[name], proposal.constraints[name]))),
        hasOtherOwners && h("div", {class: "factrow"}, fact("owners then", people(proposal.owners))),
        h("div", {class: "factrow"}, fact("proposed by", people([proposal.proposed_by])), fact("approved by", people(proposal.approved_by)), fact("not yet by", people(waiting))),
        problem, h("footer", {}, button, again));
}

function changeLine(name, now, then) {
    if (now === then) return h("li", {class: "muted"}, sentence(name, now));
    return h("li", {class: "changed"}, then === undefined ? [limitName(name), " is removed."] : h("b", {}, sentence(name, then)), " ",
        h("span", {class: "badge warn"}, now === undefined ? "new" : ["now ", h("bdi", {}, String(now))]));
}

function memberCard(policy, members, nameOf) {
    return h("article", {class: "card decision", "data-part": "members"}, heading("Members", ""),
        h("ul", {class: "terms"}, members.map((one) => h("li", {class: "factrow"}, named(one.user_id, nameOf(one.user_id)), h("span", {class: "muted"}, roleName(one.role)),
            policy.owners.includes(one.user_id) && h("span", {class: "badge"}, "owner")))));
}
