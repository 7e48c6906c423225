// Fields to select a family and a person.
import {families, familyName, loadPeople, nobody, personName, roleName, short8} from "/console/people.js";
import {picker} from "/console/picker.js";

/** Selects one of all families. */
export const familyPicker = (all, onPick) => picker({
    name: "family_id", label: "Family", all, onPick, titleOf: familyName,
    search: async (text, cursor, signal) => {
        const page = await families(text, cursor, signal);
        const items = page.items.filter((one) => all || one.family_id !== nobody)
            .map((one) => ({value: one.family_id, title: familyName(one.family_id), note: one.family_id === nobody ? "" : short8(one.family_id)}));
        return {items, next_cursor: page.next_cursor};
    },
});

/** Selects a person in the audit log of `family()`. */
export const personPicker = (family, onPick) => picker({
    name: "person_id", label: "Person", all: "everybody", onPick, titleOf: personName,
    search: async (text, _, signal) => {
        const wanted = text.toLowerCase();
        const items = (await loadPeople(family(), signal))
            .map((one) => ({value: one.person, title: personName(one.person), note: roleName(one.role)}))
            .filter((one) => `${one.title} ${one.note} ${one.value}`.toLowerCase().includes(wanted));
        return {items, next_cursor: null};
    },
});
