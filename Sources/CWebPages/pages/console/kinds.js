// Kinds of entries, their groups in charts, and how they are displayed.
import {get} from "/console/api.js";
import {h} from "/console/dom.js";

let kinds = [];
/** The kinds that the server writes. */
export const allKinds = () => kinds;
export async function loadKinds(signal) { ({kinds} = await get("/audit/kinds", {}, signal)); }

export const groups = ["nag", "ai", "people", "consent", "session", "admin", "other"];
export const groupNames = {nag: "Nags", ai: "AI decisions", people: "People and family", consent: "Consents", session: "Sign-ins", admin: "Administration", other: "Other"};

const groupOf = new Map(Object.entries({
    nag: ["nag", "nags", "attachment", "excuse", "input", "delivery", "gamification", "incentive", "report", "series"], ai: ["ai", "ai_constraint", "ai_execution", "ai_key", "ai_session", "draft"], consent: ["consent"], session: ["session", "sign_in", "account", "device", "email", "email_change", "password", "password_reset"],
    admin: ["admin", "audit", "trail", "log", "person", "demo", "state"],
    people: ["family", "member", "child", "child_credentials", "child_settings", "child_pin", "child_lockout", "family_code", "relationship", "block", "abuse_report", "preferences", "policy", "incentive_rule", "connection"],
}).flatMap(([group, firsts]) => firsts.map((first) => [first, group])));

export const group = (kind) => groupOf.get(kind.split(".")[0]) || "other";

export function kindBadge(kind) {
    const denied = kind.endsWith(".denied") || kind.endsWith(".failed");
    return h("span", {class: `kind g-${group(kind)}${denied ? " denied" : ""}`}, h("bdi", {}, kind));
}
