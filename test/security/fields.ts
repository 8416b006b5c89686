/** The fields of requests, as the OpenAPI document describes them. */
import type { ApiRoute } from "../../src/operations/api-route.ts";
import { allRoutes, nameOf } from "./examples.ts";

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly maxItems?: number;
}

interface Described {
  readonly parameters?: readonly {
    readonly name?: string;
    readonly in?: string;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { schema: Schema }>>;
  };
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Field {
  readonly name: string;
  readonly in: "body" | "query";
  /** The schemas of the values, without null. A field can have several. */
  readonly schemas: readonly Schema[];
}

export const openApi: OpenApi = await readDocument();

async function readDocument(): Promise<OpenApi> {
  for (const { operation } of allRoutes) {
    if (operation.kind === "document") return JSON.parse(await operation.json("")) as OpenApi;
  }
  throw new Error("no route has the OpenAPI document");
}

const described = (route: ApiRoute): Described =>
  openApi.paths[route.path.replaceAll(/:(\w+)/g, "{$1}")]?.[route.method.toLowerCase()] ?? {};

/** The schema that a reference names. */
export function resolved(schema: Schema): Schema {
  const name = schema.$ref?.split("/").at(-1);
  return name === undefined ? schema : (openApi.components.schemas[name] ?? {});
}

/** The alternatives of a schema, without null. */
export function alternatives(schema: Schema): readonly Schema[] {
  const whole = resolved(schema);
  const among = whole.anyOf ?? whole.oneOf;
  if (among !== undefined) return among.flatMap(alternatives);
  return whole.type === "null" ? [] : [whole];
}

export function bodySchemaOf(route: ApiRoute): Schema | undefined {
  const schema = described(route).requestBody?.content["application/json"]?.schema;
  return schema === undefined ? undefined : resolved(schema);
}

/** The fields of a route's body and query. */
export function fieldsOf(route: ApiRoute): readonly Field[] {
  const { parameters = [] } = described(route);
  const inQuery = parameters.flatMap(({ name, in: place, schema = {} }): Field[] =>
    place === "query" && name !== undefined
      ? [{ name, in: "query", schemas: alternatives(schema) }]
      : [],
  );
  const inBody = Object.entries(bodySchemaOf(route)?.properties ?? {}).map(
    ([name, schema]): Field => ({ name, in: "body", schemas: alternatives(schema) }),
  );
  return [...inQuery, ...inBody];
}

/** A field of a route with a name for `test.each`. */
export const titledField = (
  route: ApiRoute,
  field: Field,
): { name: string; route: ApiRoute; field: Field } => ({
  name: `${nameOf(route)} ${field.in} ${field.name}`,
  route,
  field,
});
