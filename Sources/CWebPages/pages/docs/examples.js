// Values that a schema allows, to begin a request with.
import {resolved} from "/docs/schemas.js";

const texts = {
    uuid: () => "00000000-0000-4000-8000-000000000000",
    "date-time": () => new Date(Date.now() + 3_600_000).toISOString(),
    date: () => new Date().toISOString().slice(0, 10),
    email: () => "somebody@example.com",
    uri: () => "https://example.com/",
};

function text(schema) {
    if (texts[schema.format]) return texts[schema.format]();
    return "text".padEnd(schema.minLength ?? 0, " text").slice(0, schema.maxLength ?? 80);
}

/**
 * A value of the schema.
 * @param isWhole whether an object has the members too that may be left out.
 */
export function example(schema, isWhole, depth = 0) {
    const whole = resolved(schema);
    if (whole.example !== undefined) return whole.example;
    if (whole.default !== undefined) return whole.default;
    if (whole.const !== undefined) return whole.const;
    if (whole.enum) return whole.enum[0];
    const choices = whole.anyOf ?? whole.oneOf;
    if (choices) return example(choices.find((choice) => resolved(choice).type !== "null") ?? choices[0], isWhole, depth);
    const type = [whole.type].flat().find((name) => name !== "null");
    switch (type ?? (whole.properties ? "object" : "string")) {
    case "object": {
        const members = Object.entries(whole.properties ?? {}).filter(([name]) => isWhole || whole.required?.includes(name));
        return depth > 5 ? {} : Object.fromEntries(members.map(([name, value]) => [name, example(value, isWhole, depth + 1)]));
    }
    case "array": return depth > 5 ? [] : [example(whole.items ?? {}, isWhole, depth + 1)];
    case "integer": case "number": return whole.minimum ?? 0;
    case "boolean": return true;
    default: return text(whole);
    }
}
