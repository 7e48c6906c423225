// Names of people and families.
import {get} from "/console/api.js";
import {h, icon} from "/console/dom.js";

export const nobody = "00000000-0000-0000-0000-000000000000";
export const short8 = (id) => String(id).slice(-8);

// MARK: families

const familyNames = new Map();
export const familyName = (id) => (id === nobody ? "Outside families" : familyNames.get(id) || `Family ${short8(id)}`);

/** A page of families: all for an administrator, the guardian's own otherwise. */
export async function families(text, cursor, signal) {
    const page = await get("/audit/families", {q: text.replace(/^family /i, ""), cursor}, signal);
    for (const family of page.items) if (family.name?.trim()) familyNames.set(family.family_id, family.name);
    return page;
}

/** Loads the name of a family if it is not known. */
export async function loadFamilyName(id, signal) {
    if (id && id !== nobody && !familyNames.has(id)) await families(id, "", signal);
}

// MARK: people

const people = new Map();
/** The pseudonyms of accounts. */
const pseudonyms = new Map();
/** Families whose people were loaded. */
const asked = new Set();
const roles = {former_member: "former member", party: "party of the connection", former_administrator: "former administrator"};

/** Loads the people of a family's audit log; without a family, administrators and system components. */
export async function loadPeople(family, signal) {
    const {items} = await get("/audit/people", {family_id: family}, signal);
    for (const one of items) {
        people.set(one.person, one);
        if (one.user_id) pseudonyms.set(one.user_id, one.person);
    }
    asked.add(family ?? "");
    return items;
}

/** Loads them once for each family, because each request of an administrator is an audit entry. */
export async function loadPeopleOnce(family, signal) {
    if (!asked.has(family ?? "")) await loadPeople(family, signal);
}

export function clearPeople() {
    people.clear();
    pseudonyms.clear();
    asked.clear();
    familyNames.clear();
}

export const roleName = (role) => roles[role] || role;

/** A person's name if the reader may see it, else the last eight digits of the pseudonym. */
export const personName = (pseudonym) => people.get(pseudonym)?.name?.trim() || (pseudonym ? `Person ${short8(pseudonym)}` : "–");

/** A person with avatar. The name is isolated (bdi), so that its text direction does not affect its surroundings. */
export function person(pseudonym) {
    if (!pseudonym) return h("span", {class: "muted"}, "–");
    const known = people.get(pseudonym);
    const isSystem = known?.role === "system";
    return h("span", {class: `person${isSystem ? " system" : ""}`, title: `${roleName(known?.role || "")} ${pseudonym}`.trim()},
        isSystem ? h("span", {class: "avatar hues", "aria-hidden": "true"}, icon("shield")) : avatar(pseudonym, known?.name), h("bdi", {class: "name"}, personName(pseudonym)));
}

/** A person with avatar, by account, under a name from elsewhere than the audit log. */
export const named = (id, name) => h("span", {class: "person", title: id}, avatar(id, name), h("bdi", {class: "name"}, name));

/** A person has one colour in all views, whether they are named by account or by pseudonym. */
function avatar(id, name) {
    const hue = [...pseudonyms.get(id) ?? id].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 8, 7);
    const initial = name?.match(/[\p{L}\p{N}]/u)?.[0] || short8(id)[0];
    return h("span", {class: `avatar hue${hue}`, "aria-hidden": "true"}, initial.toUpperCase());
}

export const family = (id) => h(id === nobody ? "span" : "bdi", {class: id === nobody ? "name muted" : "name"}, familyName(id));
