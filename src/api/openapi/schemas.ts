import * as z from "zod";
import type { Describe } from "./descriptions.ts";

/** Returns a reference to a component of the document. */
export const ref = (kind: string, name: string): { $ref: string } => ({
  $ref: `#/components/${kind}/${name}`,
});

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
  /** Whether the input of an operation is refused if it has no fields but those in `given`. */
  refusesAbsent(name: string, given: readonly string[]): boolean;
  output(name: string): JsonSchema;
  /** Registers the body schema of an operation. */
  body(name: string, schema: JsonSchema): JsonSchema;
}

type Named = Readonly<Record<string, z.ZodType>>;

/** Converts the inputs and outputs of operations, each by the name of its operation. */
export function jsonSchemas(inputs: Named, outputs: Named, describe: Describe): Schemas {
  const accepted = converted(inputs, "input", describe);
  const returned = converted(outputs, "output", describe);
  // These become no components here. `body` adds those that are bodies, without the fields that
  // are in the path.
  const wholeInputs = new Set(
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
    if (!wholeInputs.has(name)) components[names.get(name) ?? name] = rename(schema, names);
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
      if ($ref === undefined) {
        // The docstring of an input without a name is about the fields in the path.
        const { description: _, ...inline } = schema;
        return inline;
      }
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
  // Each new name can make another input differ from its output, so this goes on until none does.
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
    const propertyName = "type";
    const members = (schema.oneOf ?? []).flatMap(({ $ref }) => ($ref === undefined ? [] : [$ref]));
    const mapping = members.flatMap(($ref): [string, string][] => {
      const { const: value } = definitions[nameOf($ref)]?.properties?.[propertyName] ?? {};
      return typeof value === "string" ? [[value, $ref]] : [];
    });
    const isWhole = mapping.length > 0 && mapping.length === schema.oneOf?.length;
    const discriminator = { propertyName, mapping: Object.fromEntries(mapping) };
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

type Io = "input" | "output";

/** Converts schemas of zod to those of the document, and adds their descriptions. */
function converted(named: Named, io: Io, describe: Describe): Converted {
  const { $defs = {}, properties = {} } = z.toJSONSchema(z.object(named), {
    io,
    override: ({ jsonSchema }) => shorten(jsonSchema, io),
  });
  const definitions = Object.entries($defs)
    .filter(([id]) => !anonymous.test(id))
    .map(([id, schema]): [string, object] => [id, { interface: id, ...schema }]);
  const whole = { schemas: properties, definitions: Object.fromEntries(definitions) };
  const text = JSON.stringify(whole, (_, each: unknown) =>
    isSchema(each) ? described(relocated(each), io, describe) : each,
  );
  return JSON.parse(text) as Converted;
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Adapts a schema of zod to the document. Zod visits each of its schemas, but not those inside of
 * one that `documentedAs` made.
 */
function shorten(schema: z.core.JSONSchema.BaseSchema, io: Io): void {
  for (const field of Object.values(schema.properties ?? {})) {
    if (typeof field === "object") shorten(field, io);
  }
  // Responses may gain fields, so clients that validate them must allow unknown ones.
  if (io === "output" && schema.additionalProperties === false) delete schema.additionalProperties;
  // The format says the same, and zod's pattern is long.
  if (schema.format === "date-time" || schema.format === "date") delete schema.pattern;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
}

/**
 * Describes a schema and its fields by the docstrings of an interface. The id of a component names
 * it, or `interface` in the metadata of another schema. The text of a field comes before that of
 * its type.
 */
function described(schema: JsonSchema, io: Io, describe: Describe): object {
  const { interface: name, ...rest } = schema;
  if (typeof name !== "string") return schema;
  const { description, fields = {} } = describe(name) ?? {};
  const whole = { ...rest, description: rest.description ?? description };
  if (rest.properties === undefined) return whole;
  const properties = Object.entries(rest.properties).map(([field, property]): [string, object] => [
    field,
    withDefault({ ...property, description: fields[field] ?? property.description }, io),
  ]);
  return { ...whole, properties: Object.fromEntries(properties) };
}

/**
 * Client generators treat a field with a default as always present, and would require it in
 * requests. The description states the default instead. In responses
 * there is no default: a field that is absent was removed.
 */
function withDefault({ default: value, ...field }: DescribedField, io: Io): object {
  if (value === undefined || io === "output") return field;
  const description = [field.description, `By default ${JSON.stringify(value)}.`];
  return { ...field, description: description.filter(Boolean).join(" ") };
}

interface DescribedField {
  readonly description: string | undefined;
  readonly default?: unknown;
}

/** Points a reference at the document's components. */
function relocated(schema: JsonSchema): JsonSchema {
  const { $ref, ...beside } = schema;
  if (typeof $ref !== "string") return schema;
  const name = $ref.replace("#/$defs/", "");
  return anonymous.test(name) ? beside : { ...beside, $ref: `${prefix}${name}` };
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
