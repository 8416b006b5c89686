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
import { declaredTypes } from "../../build-descriptions.ts";
import { eventSchemaId, eventTypes } from "../../src/events/types.ts";
import { defaultLimits, type Limits } from "../../src/kernel/limits.ts";
import { apiRoutes } from "../../src/modules.ts";
import { isGuarded } from "../../src/operations/index.ts";
import { root } from "./public-types.ts";

interface JsonSchema {
  readonly $ref?: string;
  readonly interface?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

const options = { io: "input", unrepresentable: "any" } as const;

/** A schema of an API route. The names of components are in its `$defs`. */
interface RouteSchema {
  readonly json: JsonSchema;
  /** The fields of an input that are in the path of the route. */
  readonly path: readonly string[];
}

/** What the routes take, and what they return. */
function routeSchemas(): readonly RouteSchema[] {
  const routes = apiRoutes(defaultLimits);
  const toJson = (schema: z.ZodType) => z.toJSONSchema(schema, options) as JsonSchema;
  const inputs = routes.filter(isGuarded).map(({ operation, path }) => ({
    json: toJson(operation.input(defaultLimits)),
    path: path.split("/").flatMap((part) => (part.startsWith(":") ? part.slice(1) : [])),
  }));
  const outputs = routes.flatMap((route) => ("response" in route ? (route.response ?? []) : []));
  return [...inputs, { json: toJson(z.union(outputs)), path: [] }];
}

/** Pages and events have generic types. The others are only seen over HTTP. */
const withoutType = /^(\w+Page|Event|Liveness|OpenApiDocument|__schema\d+)$/;
const eventIds: ReadonlySet<string> = new Set(eventTypes.map(eventSchemaId));

/** A schema, or a function that builds one from the limits. */
type Exported = z.ZodType | ((limits: Limits) => z.ZodType);

/**
 * Compares each declared type with its schema of the same file: `SendMessage` with
 * `sendMessageSchema`, and `MessageSentData` with the data of the event `messageSent`. Compares the
 * fields of the API's schemas with those of the interfaces that they name. Returns a sentence for
 * each difference in types, in fields and in their defaults.
 */
export async function schemaDifferences(project: Project): Promise<readonly string[]> {
  const { program, checker } = project;
  const types = declaredTypes(project);
  const differences: string[] = [];
  const compared = new Set<string | undefined>();
  for (const path of globSync("src/**/*.ts", { cwd: root }).toSorted()) {
    const file = program.getSourceFile(resolve(root, path));
    const module = file && checker.getSymbolAtLocation(file);
    if (module === undefined) continue;
    const exported = new Map(checker.getExportsOfModule(module).map((each) => [each.name, each]));
    for (const [name, symbol] of exported) {
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
      for (const id of [built.meta()?.id, ...Object.keys(json.$defs ?? {})]) compared.add(id);
      compareObjects(name, json);
    }
  }
  for (const { json, path } of routeSchemas()) {
    for (const id of Object.keys(json.$defs ?? {})) {
      const isCompared = compared.has(id) || withoutType.test(id) || eventIds.has(id);
      if (!isCompared) differences.push(`${id}: no type of this name stands beside its schema`);
    }
    compareObjects("a route", withoutArguments(json, path));
  }
  return [...new Set(differences)];

  /**
   * Leaves out the fields that are in the path of a route if the interface does not have them: in
   * process, they are arguments of their own.
   */
  function withoutArguments(input: JsonSchema, path: readonly string[], id = ""): JsonSchema {
    const { $ref, $defs = {}, interface: name = id, properties = {} } = input;
    const whole = $ref?.replace("#/$defs/", "") ?? "";
    const component = $defs[whole];
    if (component !== undefined) {
      return { ...input, $defs: { ...$defs, [whole]: withoutArguments(component, path, whole) } };
    }
    const [symbol] = types.get(name) ?? [];
    const type = symbol && checker.getDeclaredTypeOfSymbol(symbol);
    const declared = type?.isObjectType() === true ? checker.getPropertiesOfType(type) : [];
    const fields = Object.entries(properties).filter(
      ([field]) => !path.includes(field) || declared.some((each) => each.name === field),
    );
    return { ...input, properties: Object.fromEntries(fields) };
  }

  /** Compares the objects of a schema with the interfaces that they name. */
  function compareObjects(path: string, schema: JsonSchema): void {
    const { interface: name = "", properties = {}, $defs = {} } = schema;
    const [symbol] = types.get(name) ?? [];
    const fields = Object.keys(properties);
    if (symbol !== undefined) {
      compareFields(symbol, properties);
    } else if (fields.length > 0) {
      differences.push(`${path}: no interface describes ${fields.join(", ")}`);
    }
    for (const [id, component] of Object.entries($defs)) {
      compareObjects(id, { interface: id, ...component });
    }
    for (const [key, part] of Object.entries({ ...schema, $defs: undefined })) {
      const isPart = typeof part === "object" && part !== null;
      if (isPart) compareObjects(`${path}.${key}`, part);
    }
  }

  function compareFields(symbol: Symbol, properties: Record<string, JsonSchema>): void {
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    // A union can be documented as one object.
    if (!type.isObjectType()) return;
    const fields = new Map(checker.getPropertiesOfType(type).map((each) => [each.name, each]));
    for (const [name, property] of Object.entries(properties)) {
      const field = fields.get(name);
      if (field === undefined) differences.push(`${symbol.name}.${name}: only in the schema`);
      else compareDefaults(`${symbol.name}.${name}`, field, property);
    }
    for (const name of fields.keys()) {
      if (!(name in properties)) differences.push(`${symbol.name}.${name}: not in the schema`);
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
}
