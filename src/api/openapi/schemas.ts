import * as z from "zod";

/** The parts of JSON Schema 2020-12 that the document reads. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly $ref?: string;
  readonly type?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly oneOf?: readonly JsonSchema[];
  readonly const?: unknown;
}

/** The schemas of a document. A schema with an id becomes a named component. */
export interface Schemas {
  readonly components: Readonly<Record<string, JsonSchema>>;
  /** The input of an operation, with its top-level properties inline. */
  input(name: string): JsonSchema;
  /** Whether the input of an operation is refused if it has no fields, or only `given`. */
  refusesAbsent(name: string, given: readonly string[]): boolean;
  output(name: string): JsonSchema;
  /** Registers the body schema of an operation. */
  body(name: string, schema: JsonSchema): JsonSchema;
}

type Named = Readonly<Record<string, z.ZodType>>;

export function jsonSchemas(inputs: Named, outputs: Named): Schemas {
  const accepted = converted(inputs, "input");
  const returned = converted(outputs, "output");
  const roots = new Set(
    Object.values(accepted.schemas).flatMap(({ $ref }) =>
      $ref === undefined ? [] : [nameOf($ref)],
    ),
  );
  const names = inputNames(accepted.definitions, returned.definitions);
  const components: Record<string, JsonSchema> = {
    ...withDiscriminators(returned.definitions),
    IdempotencyKey: idempotencyKey,
  };
  for (const [name, schema] of Object.entries(accepted.definitions)) {
    if (!roots.has(name)) components[names.get(name) ?? name] = rename(schema, names);
  }
  const own = (name: string): JsonSchema => accepted.schemas[name] ?? {};
  return {
    components,
    input: (name) => {
      const { $ref } = own(name);
      return rename(
        $ref === undefined ? own(name) : (accepted.definitions[nameOf($ref)] ?? {}),
        names,
      );
    },
    // A rule over several fields, such as "one of these", is in no list of required fields.
    refusesAbsent: (name, given) =>
      (inputs[name]?.safeParse({}).error?.issues ?? []).some(
        ({ path: [field] }) => !given.includes(String(field)),
      ),
    output: (name) => returned.schemas[name] ?? {},
    body: (name, schema) => {
      const { $ref } = own(name);
      if ($ref === undefined) return schema;
      components[nameOf($ref)] = schema;
      return { $ref };
    },
  };
}

/**
 * An input can be stricter than the output with the same id: it refuses unknown fields, fields with
 * defaults are optional, or it refers to such an input. It then gets a separate name.
 */
function inputNames(
  accepted: Converted["definitions"],
  returned: Converted["definitions"],
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (let before = -1; before < names.size;) {
    before = names.size;
    for (const [name, schema] of Object.entries(accepted)) {
      const output = returned[name];
      if (output === undefined) continue;
      if (JSON.stringify(rename(schema, names)) !== JSON.stringify(output)) {
        names.set(name, `${name}Input`);
      }
    }
  }
  return names;
}

/**
 * Says for each union of components which value of `type` belongs to which member. Generators for
 * languages without union types need it, since they do not compare constants.
 */
function withDiscriminators(definitions: Converted["definitions"]): Converted["definitions"] {
  const entries = Object.entries(definitions).map(([name, schema]): [string, JsonSchema] => {
    const members = (schema.oneOf ?? []).flatMap(({ $ref }) => ($ref === undefined ? [] : [$ref]));
    const property = "type";
    const mapping = members.flatMap(($ref): [string, string][] => {
      const { const: value } = definitions[nameOf($ref)]?.properties?.[property] ?? {};
      return typeof value === "string" ? [[value, $ref]] : [];
    });
    const isWhole = mapping.length > 0 && mapping.length === schema.oneOf?.length;
    const discriminator = { propertyName: property, mapping: Object.fromEntries(mapping) };
    return [name, isWhole ? { ...schema, discriminator } : schema];
  });
  return Object.fromEntries(entries);
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
    override: ({ jsonSchema }) => shorten(jsonSchema, io),
  });
  return relocate(properties, $defs);
}

/**
 * Adapts a schema of zod to the document. Zod visits each of its schemas, but not those inside of
 * one that `documentedAs` made.
 */
function shorten(schema: z.core.JSONSchema.BaseSchema, io: "input" | "output"): void {
  for (const field of Object.values(schema.properties ?? {})) {
    if (typeof field === "object") shorten(field, io);
  }
  if (io === "input") describeDefault(schema);
  // Responses may gain fields, so clients that validate them must allow unknown ones.
  else if (schema.additionalProperties === false) delete schema.additionalProperties;
  // The format says the same, and zod's pattern is long.
  if (schema.format === "date-time" || schema.format === "date") delete schema.pattern;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
}

/**
 * Client generators treat a field with a default as always present, and would require it in
 * requests. The description states the default instead.
 */
function describeDefault(schema: { default?: unknown; description?: string | undefined }): void {
  if (schema.default === undefined) return;
  schema.description = [schema.description, `By default ${JSON.stringify(schema.default)}.`]
    .filter(Boolean)
    .join(" ");
  delete schema.default;
}

/** Points references at the document's components. */
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

/** The schema of any JSON value is recursive. Client generators fail on it, so it is left out. */
const anonymous = /^__schema\d+$/;

function rename(schema: JsonSchema, names: ReadonlyMap<string, string>): JsonSchema {
  const text = JSON.stringify(schema, (key, each: unknown) =>
    key === "$ref" && typeof each === "string"
      ? `${prefix}${names.get(nameOf(each)) ?? nameOf(each)}`
      : each,
  );
  return JSON.parse(text) as JsonSchema;
}
