/**
 * Extracts paths and components from an OpenAPI document, unchanged, with everything they refer to:
 * `node cut.ts document.json '#/paths/~1messages' … > cut.json`
 */
import { readFileSync } from "node:fs";

type Json = null | boolean | number | string | Json[] | JsonObject;
interface JsonObject {
  [name: string]: Json;
}

const [file = "", ...wanted] = process.argv.slice(2);
const document = JSON.parse(readFileSync(file, "utf8")) as JsonObject;

/** RFC 6901, in a URL's fragment. */
const stepsOf = (pointer: string): string[] =>
  pointer
    .slice(2)
    .split("/")
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"));

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function find(pointer: string): Json {
  let found: Json | undefined = document;
  for (const step of stepsOf(pointer)) found = isObject(found) ? found[step] : undefined;
  if (found === undefined) throw new Error(`there is no ${pointer}`);
  return found;
}

const kept = new Map<string, Json>();
function keep(pointer: string): void {
  if (kept.has(pointer)) return;
  const part = find(pointer);
  kept.set(pointer, part);
  for (const [, to = ""] of JSON.stringify(part).matchAll(/"\$ref":"([^"]+)"/g)) keep(to);
}
for (const pointer of wanted) keep(pointer);

const cut: JsonObject = {};
for (const name of ["openapi", "info", "servers", "security"]) {
  if (document[name] !== undefined) cut[name] = document[name];
}
for (const [pointer, part] of kept) {
  const steps = stepsOf(pointer);
  let into = cut;
  for (const step of steps.slice(0, -1)) into = (into[step] ??= {}) as JsonObject;
  into[steps.at(-1) ?? ""] = part;
}
process.stdout.write(JSON.stringify(cut));
