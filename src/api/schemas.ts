import { z } from "zod";

/** JSON Schema 2020-12, as far as the document looks into it. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly $ref?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** The schemas of a document: those that have an id are components, named once and referred to. */
export interface Schemas {
  readonly components: Readonly<Record<string, JsonSchema>>;
  /** The input of an operation, its own properties in sight. */
  input(name: string): JsonSchema;
  output(name: string): JsonSchema;
  /** Names what is left of an operation's input as its body. */
  body(name: string, schema: JsonSchema): JsonSchema;
}

type Named = Readonly<Record<string, z.ZodType>>;

export function jsonSchemas(inputs: Named, outputs: Named): Schemas {
  const taken = converted(inputs, "input");
  const given = converted(outputs, "output");
  const roots = new Set(
    Object.values(taken.schemas).flatMap(({ $ref }) => ($ref === undefined ? [] : [nameOf($ref)])),
  );
  const names = inputNames(taken.definitions, given.definitions);
  const components: Record<string, JsonSchema> = {
    ...given.definitions,
    IdempotencyKey: idempotencyKey,
  };
  for (const [name, schema] of Object.entries(taken.definitions)) {
    if (!roots.has(name)) components[names.get(name) ?? name] = rename(schema, names);
  }
  const own = (name: string): JsonSchema => taken.schemas[name] ?? {};
  return {
    components,
    input: (name) => {
      const { $ref } = own(name);
      return rename(
        $ref === undefined ? own(name) : (taken.definitions[nameOf($ref)] ?? {}),
        names,
      );
    },
    output: (name) => given.schemas[name] ?? {},
    body: (name, schema) => {
      const { $ref } = own(name);
      if ($ref === undefined) return schema;
      components[nameOf($ref)] = schema;
      return { $ref };
    },
  };
}

/**
 * What is taken can be stricter than what is given, under one id: it refuses fields that it doesn't know, and defaults
 * are optional in it. Such a one gets a name of its own, and so does what refers to it.
 */
function inputNames(
  taken: Converted["definitions"],
  given: Converted["definitions"],
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (let before = -1; before < names.size;) {
    before = names.size;
    for (const [name, schema] of Object.entries(taken)) {
      const same = given[name] ?? schema;
      if (JSON.stringify(rename(schema, names)) !== JSON.stringify(same)) {
        names.set(name, `${name}Input`);
      }
    }
  }
  return names;
}

const idempotencyKey: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: 255,
  pattern: "^[!-~]+$",
  description: "1 to 255 visible ASCII characters.",
};

const prefix = "#/components/schemas/";
const nameOf = (reference: string): string => reference.slice(prefix.length);

interface Converted {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly definitions: Readonly<Record<string, JsonSchema>>;
}

function converted(named: Named, io: "input" | "output"): Converted {
  const { $defs = {}, properties = {} } = z.toJSONSchema(z.object(named), {
    io,
    override: ({ jsonSchema }) => {
      if (io === "input") tellDefault(jsonSchema);
      // Fields may be added to answers: who validates them must not refuse such.
      else if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      // The format says it, and zod's pattern says it in four lines that nobody reads.
      if (jsonSchema.format === "date-time" || jsonSchema.format === "date") {
        delete jsonSchema.pattern;
      }
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return relocate(properties, $defs);
}

/** Generators of clients take a field with a default for one that is always there, and then ask for it in requests. */
function tellDefault(schema: { default?: unknown; description?: string | undefined }): void {
  if (schema.default === undefined) return;
  schema.description = [schema.description, `By default ${JSON.stringify(schema.default)}.`]
    .filter(Boolean)
    .join(" ");
  delete schema.default;
}

/** JSON in, JSON out: references point into the document's components. */
function relocate(schemas: object, definitions: object): Converted {
  const text = JSON.stringify({ schemas, definitions }, (key, each: unknown) => {
    if (anonymous.test(key)) return undefined;
    if (
      typeof each !== "object" ||
      each === null ||
      !("$ref" in each) ||
      typeof each.$ref !== "string"
    ) {
      return each;
    }
    const name = each.$ref.replace("#/$defs/", "");
    const { $ref: _, ...beside } = each;
    return anonymous.test(name) ? beside : { ...beside, $ref: `${prefix}${name}` };
  });
  return JSON.parse(text) as Converted;
}

/** Any JSON value: described by itself, which generators of clients choke on, and so better not at all. */
const anonymous = /^__schema\d+$/;

function rename(schema: JsonSchema, names: ReadonlyMap<string, string>): JsonSchema {
  const text = JSON.stringify(schema, (key, each: unknown) =>
    key === "$ref" && typeof each === "string"
      ? `${prefix}${names.get(nameOf(each)) ?? nameOf(each)}`
      : each,
  );
  return JSON.parse(text) as JsonSchema;
}
