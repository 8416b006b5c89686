/** Example values of schemas, which the forms begin with. */
import type { ApiDocument, Operation, Parameter, Schema } from "./document.ts";

const maxDepth = 6;

/** Values that are more useful than an empty text, by the name of the field. */
const known: Readonly<Record<string, unknown>> = {
  to: "+15005550001",
  from: "+15005550001",
  phone: "+15005550101",
  body: "Hello from the console",
  name: "Example",
  email: "ada@example.com",
  url: "https://example.com/hook",
  address: "+15005559998",
  transport: "sandbox",
  content: "Prefers mornings",
  q: "ada",
};

/** The schema that a reference leads to. */
export function resolved({ components }: ApiDocument, schema: Schema): Schema {
  const name = schema.$ref?.replace("#/components/schemas/", "");
  if (name === undefined) return schema;
  return components.schemas[name] ?? {};
}

/** A value that fits the schema, with the required fields only. */
export function exampleOf(document: ApiDocument, given: Schema, name?: string, depth = 0): unknown {
  const schema = resolved(document, given);
  if (name !== undefined && name in known && depth > 0) return known[name];
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  const [choice] = schema.anyOf ?? schema.oneOf ?? [];
  if (choice !== undefined) return exampleOf(document, choice, name, depth + 1);
  const type = typeof schema.type === "string" ? schema.type : schema.type?.[0];
  if (depth > maxDepth) return null;
  switch (type) {
    case "object": {
      const fields = (schema.required ?? []).map((field) => [
        field,
        exampleOf(document, schema.properties?.[field] ?? {}, field, depth + 1),
      ]);
      return Object.fromEntries(fields) as unknown;
    }
    case "array":
      return schema.items === undefined ? [] : [exampleOf(document, schema.items, name, depth + 1)];
    case "integer":
    case "number":
      return 1;
    case "boolean":
      return true;
    case "string":
      return schema.format === "date-time" ? new Date().toISOString() : "";
    default:
      return null;
  }
}

/** The parameters of the path and the query. */
export const parametersOf = ({ parameters = [] }: Operation): readonly Parameter[] =>
  parameters.filter((each) => each.in === "path" || each.in === "query");

/** Why the console cannot call the route. Undefined if it can. */
export function obstacleOf(path: string, operation: Operation): "stream" | "other" | undefined {
  if (path.endsWith("/stream")) return "stream";
  const isOpenOrKeyed = (operation.security ?? []).every((each) => "apiKey" in each);
  return isOpenOrKeyed && !path.includes("/callbacks") ? undefined : "other";
}
