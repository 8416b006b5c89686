import { globSync } from "node:fs";
import { resolve } from "node:path";
import {
  SignatureKind,
  SymbolFlags,
  type Project,
  type Symbol,
  type Type,
} from "typescript/unstable/sync";
import { z } from "zod";
import { docOf } from "../../build-descriptions.ts";
import { eventSchemaId, eventTypes } from "../../src/events/types.ts";
import { defaultLimits, type Limits } from "../../src/kernel/limits.ts";
import { apiRoutes } from "../../src/modules.ts";
import { isGuarded } from "../../src/operations/index.ts";
import { eventDefinitionOf } from "../../src/webhooks/index.ts";
import { root } from "./public-types.ts";

interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly description?: string;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

/** The names of the OpenAPI components that are the schema itself or that it contains. */
function componentsOf(schema: z.ZodType, { $defs = {} }: JsonSchema): readonly string[] {
  const id = schema.meta()?.id;
  return [...(id === undefined ? [] : [id]), ...Object.keys($defs)];
}

/** The names of the components that the routes take and return. */
function routeComponents(): ReadonlySet<string> {
  const schemas = apiRoutes(defaultLimits).flatMap((route) => {
    const response = "response" in route ? route.response : undefined;
    const input = isGuarded(route) ? route.operation.input(defaultLimits) : undefined;
    return [response, input].filter((schema) => schema !== undefined);
  });
  return new Set(
    schemas.flatMap((schema) =>
      componentsOf(schema, z.toJSONSchema(schema, options) as JsonSchema),
    ),
  );
}

/** Pages and events have generic types. The others are only seen over HTTP. */
const withoutType = /^(\w+Page|Event|Liveness|OpenApiDocument)$/;
const eventIds: ReadonlySet<string> = new Set(eventTypes.map(eventSchemaId));

const options = { io: "input", unrepresentable: "any" } as const;

/** A schema, or a function that builds one from the limits. */
type Exported = z.ZodType | ((limits: Limits) => z.ZodType);

/**
 * Compares each declared type with its schema of the same file: `SendMessage` with
 * `sendMessageSchema`, and `MessageSentData` with the data of the event `messageSent`. Returns a sentence for each difference in fields, in types and in their descriptions.
 */
export async function schemaDifferences({ program, checker }: Project): Promise<readonly string[]> {
  const differences: string[] = [];
  const compared = new Set<string>();
  for (const path of globSync("src/**/*.ts", { cwd: root }).toSorted()) {
    const file = program.getSourceFile(resolve(root, path));
    const module = file && checker.getSymbolAtLocation(file);
    if (module === undefined) continue;
    const exported = new Map(checker.getExportsOfModule(module).map((each) => [each.name, each]));
    for (const [name, symbol] of exported) {
      if (name === "EventMap") compareEventDocs(checker.getDeclaredTypeOfSymbol(symbol));
      const constant = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
      const event = constant.replace(/Data$/, "");
      const schema = exported.get(`${constant}Schema`) ?? dataOf(exported.get(event));
      // An index exports what other files declare, so an alias is compared there. A generic schema,
      // such as that of a page, has no single type.
      const isDeclared = (symbol.flags & SymbolFlags.Type) !== 0;
      if (!isDeclared || schema === undefined || isGeneric(schema)) continue;
      const values: Record<string, Exported | { readonly data: z.ZodType }> = await import(
        resolve(root, path)
      );
      const found = values[`${constant}Schema`] ?? values[event];
      const value = found !== undefined && "data" in found ? found.data : found;
      const built = typeof value === "function" ? value(defaultLimits) : value;
      if (!(built instanceof z.ZodType)) throw new Error(`${path} ${constant} is not a schema`);
      compareTypes(name, symbol, schema);
      const json = z.toJSONSchema(built, options) as JsonSchema;
      for (const id of componentsOf(built, json)) compared.add(id);
      const type = checker.getDeclaredTypeOfSymbol(symbol);
      const described = deref(json, json).description;
      if (described !== undefined) compareDocs(name, docOf(checker, symbol), described);
      compareFields(name, type, json, json, new Set());
    }
  }
  for (const id of routeComponents()) {
    const isCompared = compared.has(id) || withoutType.test(id) || eventIds.has(id);
    if (!isCompared) differences.push(`${id}: no type of this name stands beside its schema`);
  }
  return [...new Set(differences)];

  /** What the schema accepts and what it returns must be the declared type. */
  function compareTypes(name: string, symbol: Symbol, schema: Symbol): void {
    const declared = checker.getDeclaredTypeOfSymbol(symbol);
    const [input, output] = typesOf(schema);
    if (!checker.isTypeAssignableTo(declared, input)) {
      differences.push(`${name}: its schema does not accept all values of the type`);
    }
    if (!checker.isTypeAssignableTo(output, declared)) {
      differences.push(`${name}: its schema returns other values than the type`);
    }
  }

  /** The schema of the data of an event. */
  function dataOf(event: Symbol | undefined): Symbol | undefined {
    const type = event && checker.getTypeOfSymbol(event);
    return type && checker.getPropertyOfType(type, "data");
  }

  function isGeneric(schema: Symbol): boolean {
    const type = checker.getTypeOfSymbol(schema);
    const calls = type === undefined ? [] : checker.getSignaturesOfType(type, SignatureKind.Call);
    return calls.some((call) => call.getTypeParameters().length > 0);
  }

  function typesOf(schema: Symbol): readonly [input: Type, output: Type] {
    const type = checker.getTypeOfSymbol(schema);
    const [call] = type === undefined ? [] : checker.getSignaturesOfType(type, SignatureKind.Call);
    const built = call === undefined ? type : checker.getReturnTypeOfSignature(call);
    return [member(member(built, "_zod"), "input"), member(member(built, "_zod"), "output")];
  }

  function member(type: Type | undefined, name: string): Type {
    const property = type && checker.getPropertyOfType(type, name);
    const found = property && checker.getTypeOfSymbol(property);
    if (found === undefined) throw new Error(`no member ${name}`);
    return found;
  }

  function compareDocs(path: string, doc: string, description: string | undefined): void {
    if (description === undefined) differences.push(`${path}: its schema has no description`);
    else if (doc !== description) {
      differences.push(`${path}: the docstring says "${doc}", the schema says "${description}"`);
    }
  }

  /** The document describes an event type as its docstring does. */
  function compareEventDocs(map: Type): void {
    for (const type of eventTypes) {
      const field = checker.getPropertyOfType(map, type);
      const doc = field === undefined ? "" : docOf(checker, field);
      compareDocs(`EventMap["${type}"]`, doc, eventDefinitionOf(type).description);
    }
  }

  function compareDefaults(path: string, field: Symbol, { default: value }: JsonSchema): void {
    const tags = checker.getJsDocTagsOfSymbol(field);
    const tag = tags.find(({ name }) => name === "default")?.text?.trim();
    const expected = value === undefined ? undefined : JSON.stringify(value);
    if (tag !== expected) {
      differences.push(`${path}: the docstring has the default ${tag}, the schema ${expected}`);
    }
  }

  function compareFields(
    path: string,
    type: Type,
    json: JsonSchema,
    document: JsonSchema,
    seen: ReadonlySet<JsonSchema>,
  ): void {
    const [found, ...others] = objectsOf(json, document);
    const [own, ...members] = objectTypes(type);
    if (found === undefined || seen.has(found)) return;
    if (own === undefined) {
      // Unvalidated rows are `unknown`.
      if (!holdsUnknown(type)) {
        differences.push(`${path}: the schema has fields, the type has none`);
      }
      return;
    }
    if (others.length > 0 || members.length > 0) {
      for (const each of [found, ...others]) {
        const same = [own, ...members].find((candidate) => isSame(candidate, each));
        if (same === undefined) differences.push(`${path}: a member of the union has no type`);
        else compareFields(path, same, each, document, new Set([...seen, found]));
      }
      return;
    }
    const place = own.getSymbol()?.name.replace(/^__.*/, path) ?? path;
    const { properties = {} } = found;
    const fields = new Map(checker.getPropertiesOfType(own).map((each) => [each.name, each]));
    for (const [name, property] of Object.entries(properties)) {
      const field = fields.get(name);
      if (field === undefined) {
        differences.push(`${place}.${name}: only in the schema`);
        continue;
      }
      compareDocs(`${place}.${name}`, docOf(checker, field), descriptionOf(property, document));
      compareDefaults(`${place}.${name}`, field, property);
      const fieldType = checker.getTypeOfSymbol(field);
      if (fieldType !== undefined) {
        compareFields(`${place}.${name}`, fieldType, property, document, new Set([...seen, found]));
      }
    }
    for (const name of fields.keys()) {
      if (!(name in properties)) differences.push(`${place}.${name}: not in the schema`);
    }
  }

  /** The object types of a type, through arrays and unions. */
  function objectTypes(type: Type, seen: ReadonlySet<number> = new Set()): readonly Type[] {
    if (seen.has(type.id)) return [];
    const within = new Set([...seen, type.id]);
    if (type.isUnionType()) return type.getTypes().flatMap((part) => objectTypes(part, within));
    if (!type.isObjectType()) return [];
    if (checker.isArrayType(type)) {
      const items = checker.getIndexInfosOfType(type);
      return items.flatMap(({ valueType }) => objectTypes(valueType, within));
    }
    return checker.getPropertiesOfType(type).length === 0 ? [] : [type];
  }

  function holdsUnknown(type: Type): boolean {
    const items = checker.isArrayType(type) ? checker.getIndexInfosOfType(type) : [];
    const unknown = checker.getUnknownType();
    return items.some(({ valueType }) => checker.isTypeAssignableTo(unknown, valueType));
  }

  /** True if the constants of the schema are the literals of the type. */
  function isSame(type: Type, json: JsonSchema): boolean {
    const properties = Object.entries(json.properties ?? {});
    const fields = new Set(checker.getPropertiesOfType(type).map(({ name }) => name));
    return (
      properties.every(([name, { const: constant }]) => {
        if (!fields.has(name)) return false;
        if (constant === undefined) return true;
        const literal = member(type, name);
        return literal.isLiteralType() && literal.value === constant;
      }) && fields.size === properties.length
    );
  }
}

const deref = (json: JsonSchema, document: JsonSchema): JsonSchema =>
  json.$ref === undefined
    ? json
    : json.$ref === "#"
      ? document
      : (document.$defs?.[json.$ref.replace("#/$defs/", "")] ?? {});

/** A field's own description, or that of the schema that it refers to. */
const descriptionOf = (json: JsonSchema, document: JsonSchema): string | undefined =>
  json.description ?? deref(json, document).description;

/** The object schemas of a schema, through arrays, unions and references. */
function objectsOf(
  json: JsonSchema,
  document: JsonSchema,
  seen: ReadonlySet<JsonSchema> = new Set(),
): readonly JsonSchema[] {
  const schema = deref(json, document);
  if (seen.has(schema)) return [];
  if (schema.properties !== undefined) return [schema];
  const { anyOf = [], oneOf = [], items } = schema;
  const parts = [...anyOf, ...oneOf, ...(items === undefined ? [] : [items])];
  return parts.flatMap((part) => objectsOf(part, document, new Set([...seen, schema])));
}
