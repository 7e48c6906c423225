// Schemas of the document as lists of fields.
import {h} from "/console/dom.js";
import {inline as line} from "/docs/guide.js";

let api = {};

export function setDocument(value) { api = value; }

/** What a reference means; everything else is itself. */
export function resolved(value) {
    for (let depth = 0; value?.$ref && depth < 8; depth += 1) {
        value = value.$ref.slice(2).split("/").reduce((part, name) => part?.[name.replaceAll("~1", "/").replaceAll("~0", "~")], api);
    }
    return value ?? {};
}

/** Paragraphs of text with code and bold words. */
export const prose = (text) => (text ?? "").split("\n\n").map((paragraph) => h("p", {}, line(paragraph)));

const nameOf = (schema) => schema.$ref?.split("/").at(-1);

/** A type in a few words: "array of NagResponse", "string, uuid". */
export function typeOf(schema) {
    if (schema.$ref) return nameOf(schema);
    if (schema.anyOf || schema.oneOf) return (schema.anyOf ?? schema.oneOf).map(typeOf).join(" or ");
    const types = [schema.type ?? "anything"].flat();
    return types.map((type) => type === "array" ? `array of ${typeOf(schema.items ?? {})}` : type).join(" or ") + (schema.format ? `, ${schema.format}` : "");
}

/** The one of several schemas that a value has, where the other says that it may be null. */
const given = (schema) => (schema.anyOf ?? schema.oneOf ?? []).map(resolved).filter(({type}) => type !== "null");

function limits(schema) {
    if (given(schema).length === 1) return limits({...given(schema)[0], ...schema.default !== undefined && {default: schema.default}});
    const {enum: values, const: only, default: standard, minimum, maximum, minLength, maxLength, minItems, maxItems, pattern} = schema;
    return [
        values && `one of ${values.map((value) => JSON.stringify(value)).join(", ")}`,
        only !== undefined && `always ${JSON.stringify(only)}`,
        standard !== undefined && `${JSON.stringify(standard)} if left out`,
        (minimum ?? maximum) !== undefined && `from ${minimum ?? "any"} to ${maximum ?? "any"}`,
        (minLength ?? maxLength) !== undefined && `${minLength ?? 0} to ${maxLength ?? "any number of"} characters`,
        (minItems ?? maxItems) !== undefined && `${minItems ?? 0} to ${maxItems ?? "any number of"} items`,
        pattern && !schema.format && pattern !== "^[^\\u0000]*$" && `matches ${pattern}`,
    ].filter(Boolean).join("; ");
}

/** The schemas in which a value's fields may be: itself, an array's items, or one of several. */
function parts(schema) {
    const whole = resolved(schema);
    if (whole.anyOf ?? whole.oneOf) return (whole.anyOf ?? whole.oneOf).flatMap(parts);
    if (whole.allOf) return whole.allOf.flatMap(parts);
    if (whole.items) return parts(whole.items);
    return whole.properties ? [{name: nameOf(schema), whole}] : [];
}

/** The names of a value's fields. */
export const fieldNames = (schema) => schema ? parts(schema).flatMap(({whole}) => Object.keys(whole.properties)) : [];

/** The names of the fields of some values at every depth, and the texts that they may be by an enum or a constant. */
export function vocabulary(schemas) {
    const [seen, found] = [new Set(), new Set()];
    const visit = (schema) => {
        const whole = resolved(schema);
        if (seen.has(whole)) return;
        seen.add(whole);
        for (const value of [...whole.enum ?? [], whole.const]) if (typeof value === "string") found.add(value);
        for (const name of Object.keys(whole.properties ?? {})) found.add(name);
        const below = [Object.values(whole.properties ?? {}), whole.items, whole.additionalProperties, whole.anyOf, whole.oneOf, whole.allOf];
        below.flat().filter(Boolean).forEach(visit);
    };
    schemas.forEach(visit);
    return [...found];
}

/** The text of a named schema that says what each of its values means; undefined for others. */
function meanings(schema) {
    const whole = resolved(schema);
    const named = given(whole).length === 1 ? given(whole)[0] : whole;
    return named.enum && named.description?.includes("`") ? named.description : undefined;
}

/** A field with its type, meaning and limits; the fields below it are shown when it is opened. */
export function field(name, schema, isNeeded, text) {
    const whole = resolved(schema);
    const below = parts(schema);
    const [meaning, listed] = [text ?? schema.description ?? whole.description, meanings(schema)];
    const item = h("li", {}, h("strong", {}, name), " ", h("span", {class: "muted fine"}, typeOf(schema)), " ",
        isNeeded && h("span", {class: "needed"}, "required"), prose(meaning), listed && listed !== meaning && prose(listed),
        h("p", {class: "fine muted"}, limits(whole)));
    if (below.length) {
        const more = h("details", {ontoggle: () => { if (more.open && more.children.length === 1) more.append(fields(schema)); }},
            h("summary", {class: "fine"}, "its fields"));
        item.append(more);
    }
    return item;
}

/** The fields of an object, of an array's items, or of each of several possible objects. */
export function fields(schema) {
    const found = parts(schema);
    if (!found.length) return h("ul", {class: "fields"}, field("the value", schema, false));
    return h("div", {}, found.map(({name, whole}) => [
        found.length > 1 && h("h3", {}, name ?? "or"),
        h("ul", {class: "fields"}, Object.entries(whole.properties).map(([key, value]) => field(key, value, whole.required?.includes(key)))),
    ]));
}
