/**
 * The file in which `npm run simulate` keeps what it has done. Its name depends on everything that
 * decides what is run: the code, the seeds and the number of steps. After a change, all seeds run again.
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { Progress } from "./run-seeds.ts";

const count = z.number().int().nonnegative();
const progressSchema: z.ZodType<Progress> = z.strictObject({
  done: z.array(z.tuple([count, count])),
  messages: count,
  calls: count,
  coverage: z.record(z.string(), count),
  failed: z.array(z.strictObject({ seed: count, invariant: z.string(), failure: z.string() })),
});

const root = new URL("../..", import.meta.url).pathname;
const codeFolders = ["src", "adapters", "test/simulator"];

/** A hash of the code that a history depends on, and of the settings. */
export function versionOf(settings: object): string {
  const hash = createHash("sha256").update(JSON.stringify([settings, process.version]));
  hash.update(readFileSync(join(root, "package-lock.json")));
  for (const folder of codeFolders) {
    const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
    for (const file of files.filter((name) => name.endsWith(".ts")).toSorted()) {
      hash.update(file).update(readFileSync(join(root, folder, file)));
    }
  }
  return hash.digest("hex").slice(0, 16);
}

/** The file for this version: in the folder, which by default is the system's temporary one. */
export function progressFile(version: string, folder: string = tmpdir()): string {
  return join(folder, `tidings-simulate-${version}.json`);
}

/** What an earlier run has done; undefined if there was none, or if its file is damaged. */
export function loadProgress(file: string): Progress | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return progressSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return undefined;
  }
}

/** Replaces the file as a whole, so that a kill leaves the old one or the new one. */
export function saveProgress(file: string, progress: Progress): void {
  mkdirSync(dirname(file), { recursive: true });
  const next = `${file}.next`;
  writeFileSync(next, JSON.stringify(progress));
  renameSync(next, file);
}

export function removeProgress(file: string): void {
  rmSync(file, { force: true });
}
