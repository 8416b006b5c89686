/** What the OpenAPI document says about the fields of a form: their meaning and their defaults. */
import type { ComponentChildren } from "preact";
import { withCode } from "../../../parts/values.tsx";
import { apiDocument, resolved, type Schema } from "../../../reference/document.ts";

/** The schema of a field, such as the one at `limits/timeout_ms` of `CreateAgent`. */
function fieldOf(schemaName: string, path: string): Schema | undefined {
  const document = apiDocument.data;
  if (document === undefined) return undefined;
  let schema: Schema | undefined = document.components.schemas[schemaName];
  for (const part of path.split("/")) {
    schema = schema && resolved(document, schema).properties?.[part];
  }
  return schema && { ...resolved(document, schema), ...schema };
}

/** The document states the default of a field at the end of its description. */
const defaultMark = " By default ";

const descriptionOf = (schemaName: string, path: string): readonly string[] =>
  fieldOf(schemaName, path)?.description?.split(defaultMark) ?? [];

/** What a field means, in the words of the API. */
export function hintOf(schemaName: string, path: string): ComponentChildren {
  const [meaning] = descriptionOf(schemaName, path);
  return meaning && withCode(meaning);
}

/** The default of a field as the text of a form. Empty if it has none. */
export function defaultOf(schemaName: string, path: string): string {
  const stated = descriptionOf(schemaName, path)[1]?.replace(/\.$/, "");
  try {
    return String(JSON.parse(stated ?? '""'));
  } catch {
    return "";
  }
}
