/** JSON values: valid ones for a schema, and what is left of them after a mutation. */
import fc from "fast-check";
import { resolved, type Schema } from "../security/fields.ts";
import { anyCharacter } from "../support/any-character.ts";

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** The keywords of JSON Schema that the OpenAPI document uses. */
interface Keywords extends Schema {
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly allOf?: readonly Schema[];
}

/** Texts that programs often treat in a wrong way. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "\0",
    "\u007f",
    "\r\n\r\n",
    "\ud800",
    "\udc00x",
    "\ufeff",
    "\u202e",
    "\u{1f468}\u200d\u{1f469}",
    "e\u0301",
    "__proto__",
    "constructor",
    "toString",
    "null",
    "../../etc/passwd",
    "' OR 1=1 --",
    "<script>",
    "${x}",
    "{{contact.name}}",
    "%s%n",
    "+15005550001",
    "2026-02-30T00:00:00Z",
    "9".repeat(400),
    "a".repeat(2_000),
    "\u{1f600}".repeat(900),
    "STOP",
  ),
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);

const oddNumber = fc.constantFrom(0, -0, -1, 1.5, 1e21, -1e21, 2 ** 31, 2 ** 53, 1e308, 5e-324);

export const oddJson: fc.Arbitrary<Json> = fc.oneof(
  oddText,
  oddNumber,
  fc.constantFrom<Json>(null, true, false, [], {}, [[]], [null], { "": "" }, { __proto__: null }),
  fc.json({ maxDepth: 2 }).map((text) => JSON.parse(text) as Json),
);

const times = fc
  .integer({ min: Date.parse("2025-12-01"), max: Date.parse("2027-01-01") })
  .map((at) => new Date(at).toISOString());

function textOf(schema: Keywords): fc.Arbitrary<string> {
  const { format, pattern, minLength = 0, maxLength = 40 } = schema;
  if (format === "date-time") return times;
  if (format === "date") return times.map((text) => text.slice(0, 10));
  if (format === "uri") return fc.webUrl();
  if (format === "email") return fc.constantFrom("kim@example.com", "a.b+c@shop.example");
  // The expressions of the document have no look-arounds that fast-check does not know.
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern, "u"), { maxLength: 64 });
  return fc.string({
    unit: "grapheme",
    minLength: Math.min(minLength, maxLength),
    maxLength: Math.max(minLength, Math.min(maxLength, 40)),
  });
}

/** Values for fields that name something. By the name of the field. */
export type Names = Readonly<Record<string, fc.Arbitrary<Json>>>;

/** Mostly valid values: rules that the schema does not state, such as "one of two", may fail. */
export function valid(schema: Schema, names: Names, depth = 4): fc.Arbitrary<Json> {
  const whole: Keywords = resolved(schema);
  const { anyOf, oneOf, type, properties = {}, required = [], items, additionalProperties } = whole;
  const among = anyOf ?? oneOf;
  if (among !== undefined) return fc.oneof(...among.map((each) => valid(each, names, depth)));
  if (whole.const !== undefined) return fc.constant(whole.const as Json);
  if (whole.enum !== undefined) return fc.constantFrom(...(whole.enum as Json[]));
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.integer({ min: bound(whole.minimum, 0), max: bound(whole.maximum, 100) });
    case "number":
      return fc.double({ min: whole.minimum ?? 0, max: whole.maximum ?? 100, noNaN: true });
    case "string":
      return textOf(whole);
    case "array":
      return fc.array(valid(items ?? {}, names, depth - 1), {
        minLength: whole.minItems ?? 0,
        maxLength: Math.max(whole.minItems ?? 0, Math.min(whole.maxItems ?? 3, 3)),
      });
    case "object": {
      if (typeof additionalProperties === "object") {
        return fc.dictionary(
          fc.string({ minLength: 1, maxLength: 8 }),
          valid(additionalProperties, names, depth - 1),
          { maxKeys: 3 },
        );
      }
      const fields = Object.entries(properties).filter(
        ([name]) => depth > 0 || required.includes(name),
      );
      const values = fields.map(([name, each]) => [
        name,
        names[name] ?? valid(each, names, depth - 1),
      ]);
      const model = Object.fromEntries(values) as Record<string, fc.Arbitrary<Json>>;
      const own = required.filter((name) => name in model);
      return fc.record(model, { requiredKeys: own });
    }
    default:
      return oddJson;
  }
}

const bound = (given: number | undefined, usual: number): number =>
  Math.max(-(2 ** 31), Math.min(given ?? usual, 2 ** 31 - 1));

/** One change somewhere in a value. */
export interface Mutation {
  readonly kind: "replace" | "remove" | "add" | "repeat";
  /** Which of all places of the value. */
  readonly place: number;
  readonly name: string;
  readonly value: Json;
}

export const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom("replace", "remove", "add", "repeat"),
  place: fc.nat({ max: 1_000 }),
  name: oddText,
  value: oddJson,
});

/** Returns a value with the mutation. */
export function mutated(value: Json, { kind, place, name, value: other }: Mutation): Json {
  const copy = structuredClone(value);
  const places: { readonly holder: Json[] | { [name: string]: Json }; readonly key: string }[] = [];
  const walk = (at: Json): void => {
    if (typeof at !== "object" || at === null) return;
    for (const [key, each] of Object.entries(at)) {
      places.push({ holder: at, key });
      walk(each);
    }
  };
  walk(copy);
  const chosen = places[place % Math.max(1, places.length)];
  if (chosen === undefined) return kind === "replace" ? other : copy;
  const { holder, key } = chosen;
  if (Array.isArray(holder)) {
    const index = Number(key);
    if (kind === "remove") holder.splice(index, 1);
    else if (kind === "repeat") holder.push(...holder.slice(0, 5));
    else holder[index] = other;
    return copy;
  }
  if (kind === "remove") delete holder[key];
  else if (kind === "replace") holder[key] = other;
  else {
    const value = kind === "repeat" ? (holder[key] ?? null) : other;
    // A plain assignment of `__proto__` would set the prototype.
    Object.defineProperty(holder, name, { value, enumerable: true, configurable: true });
  }
  return copy;
}

/** Bytes with a few changed, removed or inserted. */
export interface Corruption {
  readonly at: number;
  readonly removed: number;
  readonly inserted: Uint8Array;
}

export const corruption: fc.Arbitrary<Corruption> = fc.record({
  at: fc.nat({ max: 2_000 }),
  removed: fc.nat({ max: 3 }),
  inserted: fc.oneof(
    fc.uint8Array({ maxLength: 4 }),
    fc
      .constantFrom("\0", "\r", "\n", "\r\n", ",", '"', "{", "[", "\\u0000", "1e999", "\xff")
      .map((text) => Uint8Array.from(Buffer.from(text, "latin1"))),
  ),
});

export function corrupted(bytes: Buffer, { at, removed, inserted }: Corruption): Buffer {
  const start = at % (bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, start), inserted, bytes.subarray(start + removed)]);
}
