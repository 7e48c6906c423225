// Who and where: how people and families are called, and how they are shown.
import {get} from "/console/api.js";
import {h, icon} from "/console/dom.js";

export const nobody = "00000000-0000-0000-0000-000000000000";
export const short8 = (id) => String(id).slice(-8);

// MARK: families

const familyNames = new Map();
export const familyName = (id) => (id === nobody ? "Outside families" : familyNames.get(id) || `Family ${short8(id)}`);

/** A page of families: everybody's for an administrator, a guardian's own. */
export async function families(text, cursor, signal) {
    const page = await get("/audit/families", {q: text.replace(/^family /i, ""), cursor}, signal);
    for (const family of page.items) if (family.name?.trim()) familyNames.set(family.family_id, family.name);
    return page;
}

/** Finds out what a family is called, where nobody has told yet. */
export async function loadFamilyName(id, signal) {
    if (id && id !== nobody && !familyNames.has(id)) await families(id, "", signal);
}

// MARK: people

const people = new Map();
/** Families whose people are known. */
const asked = new Set();
const roles = {former_member: "former member", former_administrator: "former administrator"};

/** Those whom the trail of a family names; of no family for an administrator: administrators and parts of the system. */
export async function loadPeople(family, signal) {
    const {items} = await get("/audit/people", {family_id: family}, signal);
    for (const one of items) people.set(one.person, one);
    asked.add(family ?? "");
    return items;
}

/** The same, but asked once only: an administrator's question is an entry. */
export async function loadPeopleOnce(family, signal) {
    if (!asked.has(family ?? "")) await loadPeople(family, signal);
}

export function clearPeople() {
    people.clear();
    asked.clear();
    familyNames.clear();
}

export const roleName = (role) => roles[role] || role;

/** How a person is called: by name where the reader may see it, and by the end of the trail's own name for them otherwise. */
export const personName = (pseudonym) => people.get(pseudonym)?.name?.trim() || (pseudonym ? `Person ${short8(pseudonym)}` : "–");

/** Names are other people's words: each stands alone, whatever direction or signs it is made of. */
export function person(pseudonym) {
    if (!pseudonym) return h("span", {class: "muted"}, "–");
    const known = people.get(pseudonym);
    const isSystem = known?.role === "system";
    const hue = [...pseudonym].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 8, 7);
    const initial = known?.name?.match(/[\p{L}\p{N}]/u)?.[0] || short8(pseudonym)[0];
    return h("span", {class: `person${isSystem ? " system" : ""}`, title: `${roleName(known?.role || "")} ${pseudonym}`.trim()},
        h("span", {class: `avatar hue${isSystem ? "s" : hue}`, "aria-hidden": "true"}, isSystem ? icon("shield") : initial.toUpperCase()),
        h("bdi", {class: "name"}, personName(pseudonym)));
}

export const family = (id) => h("bdi", {class: id === nobody ? "name muted" : "name"}, familyName(id));
