/** What the OpenAPI document says about the fields of a form: their meaning and their defaults. */
import { apiDocument, type Schema } from "../../reference/document.ts";
import { resolved } from "../../reference/example.ts";

/** The schema of a field, such as `limits/timeout_ms` of `CreateAgent`. */
function fieldOf(name: string, path: string): Schema | undefined {
  const document = apiDocument.data;
  if (document === undefined) return undefined;
  let schema: Schema | undefined = document.components.schemas[name];
  for (const part of path.split("/")) {
    schema = schema && resolved(document, schema).properties?.[part];
  }
  return schema && { ...resolved(document, schema), ...schema };
}

/** What a field means, in the words of the API. Its default is the placeholder of the field. */
export const hintOf = (name: string, path: string): string | undefined =>
  fieldOf(name, path)?.description?.split(" By default ")[0];

/** The default of a field as a text. Undefined if it has none. */
export function defaultOf(name: string, path: string): string | undefined {
  const value = fieldOf(name, path)?.default;
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}
