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

/** The document states the default of a field at the end of its description. */
const defaultMark = " By default ";

const descriptionOf = (name: string, path: string): readonly string[] =>
  fieldOf(name, path)?.description?.split(defaultMark) ?? [];

/** What a field means, in the words of the API. */
export const hintOf = (name: string, path: string): string | undefined =>
  descriptionOf(name, path)[0];

/** The default of a field, as a form has it. Empty if it has none. */
export function defaultOf(name: string, path: string): string {
  const stated = descriptionOf(name, path)[1]?.replace(/\.$/, "");
  try {
    return String(JSON.parse(stated ?? '""'));
  } catch {
    return "";
  }
}
