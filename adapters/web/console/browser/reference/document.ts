/** The OpenAPI document of the API that the console talks to. */
import type { EventPattern } from "../../../../../src/index.ts";
import { api, Resource } from "../../../shared/browser/index.ts";

/** A JSON schema, as far as forms use it. */
export interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** A parameter of a route. */
export interface Parameter {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

/** One route. */
export interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly example?: unknown }>>;
  };
}

/** The document. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export const apiDocument = new Resource<ApiDocument>((signal) =>
  api.get("v1/openapi.json", { signal }),
);

/** The schema that a reference leads to. */
export function resolved({ components }: ApiDocument, schema: Schema): Schema {
  const name = schema.$ref?.replace("#/components/schemas/", "");
  if (name === undefined) return schema;
  return components.schemas[name] ?? {};
}

/** Loads the document once. */
export function loadDocument(): void {
  const { data, isLoading } = apiDocument.state.peek();
  if (data === undefined && !isLoading) void apiDocument.reload();
}

/** Waits until the document is loaded. Rejects if it cannot be. */
export async function waitForDocument(): Promise<void> {
  if (apiDocument.data === undefined) await apiDocument.reload();
  const { data, error } = apiDocument.state.peek();
  if (data === undefined) throw error;
}

/** All types of events. Empty until the document is loaded. */
export const eventTypes = (): readonly string[] => valuesOf("EventType");

/** All events, each kind and each type, as webhooks choose them. Empty until it is loaded. */
export const eventPatterns = (): readonly EventPattern[] =>
  valuesOf("EventPattern") as readonly EventPattern[];

const valuesOf = (schema: string): readonly string[] =>
  (apiDocument.data?.components.schemas[schema]?.enum ?? []).map(String);
