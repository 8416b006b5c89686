import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runNode } from "./child.ts";
import { WorkingCopy } from "./copy.ts";
import { planted, type Mutant } from "./mutant.ts";

/** How long the compiler may be silent: it prints nothing until it has read everything. */
const silentMs = 900_000;

/**
 * Compiles the repository with the bugs and returns the compiler's errors. An engineer could not
 * ship a bug that does not compile. As many bugs as possible are compiled together.
 */
export async function compileErrors(mutants: readonly Mutant[]): Promise<readonly string[]> {
  await using copy = await WorkingCopy.create();
  const errors: string[] = [];
  for (let waiting = mutants; waiting.length > 0;) {
    const { files, together, others } = await combined(copy, waiting);
    errors.push(...(await compile(copy, files, together)));
    waiting = others;
  }
  return errors;
}

interface Combined {
  /** The text of each changed file. */
  readonly files: ReadonlyMap<string, string>;
  readonly together: readonly Mutant[];
  /** Bugs that cannot be planted together with those: they change the same lines. */
  readonly others: readonly Mutant[];
}

async function combined(copy: WorkingCopy, waiting: readonly Mutant[]): Promise<Combined> {
  const files = new Map<string, string>();
  const together: Mutant[] = [];
  const others: Mutant[] = [];
  for (const mutant of waiting) {
    const { file, find } = mutant;
    const original = await readFile(join(copy.path, file), "utf8");
    const text = files.get(file) ?? original;
    if (text !== original && text.split(find).length !== 2) {
      others.push(mutant);
      continue;
    }
    files.set(file, planted(mutant, text));
    together.push(mutant);
  }
  return { files, together, others };
}

async function compile(
  { path: cwd }: WorkingCopy,
  files: ReadonlyMap<string, string>,
  together: readonly Mutant[],
): Promise<readonly string[]> {
  const originals = new Map<string, string>();
  for (const [file, text] of files) {
    originals.set(file, await readFile(join(cwd, file), "utf8"));
    await writeFile(join(cwd, file), text);
  }
  // Unused names are allowed here: the engineer would have removed them together with their use.
  const unused = ["--noUnusedLocals", "false", "--noUnusedParameters", "false"];
  const { output } = await runNode(["node_modules/typescript/bin/tsc", "-p", ".", ...unused], {
    cwd,
    silentMs,
  });
  for (const [file, text] of originals) await writeFile(join(cwd, file), text);
  return output.split("\n").flatMap((line) => {
    const [place = "", code] = line.split(": error ");
    if (code === undefined) return [];
    const names = together.filter(({ file }) => place.startsWith(file)).map(({ name }) => name);
    return [`${names.join(" or ") || "no mutant"}: ${line}`];
  });
}
