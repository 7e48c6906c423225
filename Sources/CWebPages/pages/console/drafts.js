// Drafts: what the AI would do for somebody, and the steps that people take before it happens. Guardians see everybody's, others
// their own.
import {fallbackText} from "/console/aiwords.js";
import {get, write} from "/console/api.js";
import {word} from "/console/cards.js";
import {confirmed} from "/console/confirm.js";
import {draftForm} from "/console/draftform.js";
import {copyable, errorFacts, failure, h, nothing, skeleton, toast} from "/console/dom.js";
import {latest} from "/console/latest.js";
import {short8} from "/console/people.js";
import {address} from "/console/router.js";
import {ago, clock, shortTime, time} from "/console/time.js";

const states = new Map([["", "All"], ["draft", "New"], ["approved", "Approved"], ["confirmed", "Confirmed"], ["executed", "Done"], ["rejected", "Rejected"], ["expired", "Expired"]]);
const effects = {create_nag: "A nag is created.", change_nag: "The nag is changed.", notify_recipient: "Its recipient is notified.", give_incentive: "Bonus points or the family's reward are given.", notify_guardians: "The chosen guardians are notified."};
const isOpen = (one) => ["draft", "approved", "confirmed"].includes(one.state);
/** Other people's words in the quotation marks of the page's language. */
const quoted = (text) => h("q", {}, h("bdi", {}, text));
/** Second keys that this page was given, by draft: {version, confirmation, expires_at}. They are in no storage. */
const keys = new Map();

export function drafts(main, state) {
    const family = state.status.family_id;
    const place = latest();
    const choose = h("div", {class: "segments", role: "group", "aria-label": "State"}, [...states].map(([name, text]) => h("a", {href: address("drafts", {state: name}), "data-name": name}, text)));
    const list = h("div", {class: "cards"});
    main.append(h("div", {class: "pagehead"}, h("h1", {}, "Drafts"), h("p", {class: "muted"}, "What the AI proposes to send or change. Nothing happens before a person has approved, confirmed and executed a draft.")),
        h("div", {class: "actions"}, choose), list);
    const canFollow = state.status.reader !== "member";
    let [wanted, names, rules] = ["", new Map(), new Map()];

    function load() {
        list.replaceChildren(...skeleton(4));
        place.run(async (signal) => {
            const [page, members, promised] = await Promise.all([get("/ai/drafts", {family_id: family, state: wanted, limit: 60}, signal), get(`/families/${family}/members`, {}, signal), canFollow ? get("/incentive-rules", {family_id: family}, signal) : {items: []}]);
            return {page, members, promised};
        }, ({page, members, promised}) => {
            names = new Map(members.items.map((one) => [one.user_id, one.display_name]));
            rules = new Map(promised.items.map((one) => [one.id, one]));
            list.replaceChildren(...page.items.map((one) => card(one)));
            if (!page.items.length) list.replaceChildren(nothing(wanted ? "No draft has this state. Select All to see the others." : "There is no draft yet."));
        }, (error) => list.replaceChildren(failure(error, load)));
    }

    const nameOf = (id) => h("bdi", {class: "name"}, names.get(id)?.trim() || `Person ${short8(id)}`);

    /** Who wrote it: the rules (in place of what), which model, the client, or a person who has edited it. */
    function writer(one) {
        const sure = one.confidence === null ? "" : `, ${Math.round(one.confidence * 100)} % sure`;
        const fallback = one.used_fallback ? `; no model's text: ${fallbackText(one.fallback_reason)}` : "";
        const first = one.model === "client" ? "the client" : one.model === "heuristic" ? `the rules${sure}${fallback}` : `the model ${one.model}${sure}`;
        return one.written_by === "person" ? h("span", {}, nameOf(one.edited_by), ", first by ", h("span", {}, first)) : h("span", {}, first);
    }

    /** One step of the plan, as a sentence. */
    function planned(part) {
        const people = part.user_ids.flatMap((id, index) => [index ? ", " : "", nameOf(id)]);
        return [effects[part.action] ?? word(part.action), people.length > 0 && [" For ", people, "."], part.due_at && [" Due ", time(part.due_at), "."]];
    }

    /** When what happened, and by whom. */
    function stamps(one) {
        const row = (name, at, by) => at && [h("dt", {}, name), h("dd", {}, time(at), by && [" by ", nameOf(by)])];
        return [row("Created", one.created_at, one.author_id), row("Edited", one.edited_at, one.edited_by), row("Approved", one.approved_at, one.approved_by), row("Confirmed", one.confirmed_at),
            row("Executed", one.executed_at, one.executed_by), row("Rejected", one.rejected_at, one.rejected_by), isOpen(one) && row("Ends", one.expires_at),
            one.body_hash && [h("dt", {}, "Keyed digest of what it does"), h("dd", {}, copyable(one.body_hash))]];
    }

    /** What the execution does, as a sentence. */
    function sentence(one) {
        const {body} = one;
        const nag = () => h("a", {href: address("trail", {resource: one.nag_id})}, `the nag ${short8(one.nag_id)}`);
        switch (one.kind) {
        case "suggested_nag": return ["Creates a nag for ", nameOf(body.recipient_id), `, ${word(body.category)}`, body.description && [": ", quoted(body.description)], ", due ", time(body.due_at), "."];
        case "due_change": return ["Moves the due time of ", nag(), " to ", time(body.due_at), "."];
        case "push_back": return ["Tells the recipient of ", nag(), ": ", quoted(body.message)];
        case "consequence": return [`Gives the recipient of `, nag(), body.action_type === "badge" ? " the family's reward" : body.amount === 1 ? " 1 point" : ` ${body.amount} points`, ", as an incentive rule promises."];
        case "digest": return ["Tells ", body.recipient_ids.flatMap((id, index) => [index ? ", " : "", nameOf(id)]), ": ", quoted(body.message)];
        default: return [word(one.kind)];
        }
    }

    function card(one, focusOn = "") {
        const element = h("article", {class: "card decision draft", "data-id": one.id, "data-state": one.state});
        const problem = h("div", {class: "problem", role: "alert", hidden: true});
        const formPlace = h("div", {hidden: true});
        const said = sentence(one);
        const key = keys.get(one.id)?.version === one.version ? keys.get(one.id) : null;
        const fact = (name, value) => value && h("span", {class: "fact"}, h("span", {class: "muted"}, name), value);
        const show = (answer, part) => {
            const next = card(answer, part);
            element.replaceWith(next);
        };

        /** Takes a step; a refusal is shown in the card, with a button that reads the draft again. */
        async function take(button, step, after) {
            button.disabled = true;
            problem.hidden = true;
            try {
                after(await step());
            } catch (error) {
                button.disabled = false;
                const again = h("button", {type: "button", class: "small", onclick: async () => show(await get(`/ai/drafts/${one.id}`), "approve")}, "Load again");
                const retry = h("button", {type: "button", class: "small", onclick: () => take(button, step, after)}, "Try again");
                problem.replaceChildren(...[h("span", {}, error.message, " "), errorFacts(error), [409, 412].includes(error.status) ? again : retry].filter(Boolean));
                problem.hidden = false;
            }
        }
        const post = (step, more = {}) => write("POST", `/ai/drafts/${one.id}/${step}`, {version: one.version, ...more});
        const button = (part, title, act, primary = false) => h("button", {type: "button", class: primary ? "primary small" : "small", "data-part": part, "aria-label": `${title}: draft ${short8(one.id)}`, onclick: (event) => act(event.target)}, title);

        const steps = {
            approve: button("approve", "Approve", async (target) => {
                const content = [h("p", {class: "rule"}, sentence(one)), one.side_effects.length > 0 && [h("p", {}, "Then:"), h("ul", {class: "terms"}, one.side_effects.map((name) => h("li", {}, effects[name] ?? word(name))))]];
                if (!await confirmed("Approve this draft?", content, "Approve")) return;
                take(target, () => post("approve", {acknowledged_side_effects: one.side_effects}), (answer) => show(answer, "confirm"));
            }, true),
            confirm: button("confirm", key ? "Confirm again" : "Confirm", (target) => take(target, () => post("confirm"), async (given) => {
                keys.set(one.id, {version: one.version, ...given});
                show(await get(`/ai/drafts/${one.id}`), "execute");
            }), !key),
            execute: button("execute", "Execute", (target) => take(target, () => post("execute", {confirmation: key.confirmation}), (answer) => {
                keys.delete(one.id);
                toast("Done", "good");
                show(answer, "trace");
            }), true),
            edit: button("edit", "Edit", () => {
                formPlace.replaceChildren(draftForm({draft: one, members: [...names], rules: [...rules.values()], saved: (answer) => show(answer, "approve"), again: async () => show(await get(`/ai/drafts/${one.id}`), "edit"), close: () => {
                    formPlace.hidden = true;
                    element.querySelector("[data-part=edit]").focus();
                }}));
                formPlace.hidden = false;
                formPlace.querySelector("input, select, textarea").focus();
            }),
            reject: button("reject", "Reject", async (target) => {
                if (!await confirmed("Reject this draft?", "It cannot be executed afterwards.", "Reject")) return;
                take(target, () => post("reject"), (answer) => show(answer, "trace"));
            }),
        };
        const next = !isOpen(one) ? [] : one.state === "draft" ? [steps.approve] : [key && steps.execute, steps.confirm];
        element.append(
            h("header", {}, h("h3", {}, word(one.kind)), time(one.created_at)),
            h("p", {class: "rule"}, said),
            h("div", {class: "factrow"}, h("span", {class: `badge ${one.state === "executed" ? "good" : isOpen(one) ? "plain" : "warn"}`}, word(one.state)), fact("by", nameOf(one.author_id)), fact("came by", one.source === "import" ? "an import" : word(one.source)), fact("written by", writer(one)),
                one.import_id && fact("import", short8(one.import_id)), fact("version", String(one.version)), fact("approved by", one.approved_by && nameOf(one.approved_by)), fact("executed by", one.executed_by && nameOf(one.executed_by)), fact("rejected by", one.rejected_by && nameOf(one.rejected_by)), isOpen(one) && fact("ends", time(one.expires_at, shortTime)), one.executed_at && fact("done", ago(one.executed_at)),
                one.warnings.map((warning) => h("span", {class: "badge warn"}, h("bdi", {}, warning)))),
            h("ol", {class: "terms plan", "aria-label": "What is done, in this order"}, one.plan.map((part) => h("li", {}, planned(part)))),
            h("details", {class: "stamps"}, h("summary", {}, "Stamps"), h("dl", {class: "fields"}, stamps(one))),
            ...key && isOpen(one) ? [h("p", {class: "muted", role: "status"}, "Confirmed. Execute it until ", time(key.expires_at, clock), ", or confirm it again.")] : [],
            formPlace, problem,
            h("footer", {}, next, isOpen(one) && [steps.edit, steps.reject], canFollow && h("a", {class: "button small", "data-part": "trace", href: address("trail", {trace_id: one.trace_id}), "aria-label": `The trace of the draft ${short8(one.id)} in the audit log`}, "Follow the trace")));
        if (focusOn) requestAnimationFrame(() => (element.querySelector(`[data-part=${focusOn}]`) ?? element.querySelector("footer button, footer a"))?.focus());
        return element;
    }

    return {
        update(params) {
            wanted = states.has(params.get("state")) ? params.get("state") : "";
            for (const link of choose.children) {
                if (link.dataset.name === wanted) link.setAttribute("aria-current", "true");
                else link.removeAttribute("aria-current");
            }
            load();
        },
        leave: place.stop,
    };
}
