import { existsSync, readFileSync } from "node:fs";
import { memberOf } from "../../src/kernel/index.ts";

/** From the built file, and from this source file. */
const places = ["../package.json", "../../package.json"] as const;

/** Returns the version of this package. */
export function version(): string {
  const manifest = places.map((place) => new URL(place, import.meta.url)).find(existsSync);
  if (manifest === undefined) return "unknown";
  const parsed: unknown = JSON.parse(readFileSync(manifest, "utf8"));
  return String(memberOf(parsed, "version"));
}
