/** A project that uses the package, as npm installs it. */
import { execFile } from "node:child_process";
import { globSync, statSync } from "node:fs";
import { chmod, cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { isLong } from "../support/runs.ts";

const run = promisify(execFile);
export const onWindows = process.platform === "win32";
const npm = onWindows ? "npm.cmd" : "npm";

export interface Manifest {
  readonly exports: Readonly<Record<string, { readonly types: string; readonly default: string }>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly engines: { readonly node: string };
}

/** What the samples need besides tidings: a verifier of signatures, and a library for schemas. */
const librariesOfSamples = ["standardwebhooks", "zod"];

/**
 * Makes a project in a folder, and installs the package in it. Returns the paths of the package's
 * files. In `npm test`, the package is copied by its manifest, and its dependencies are linked: npm
 * takes almost 20 s to pack and to install it. `npm run check` packs it, too.
 */
export async function installIn(folder: string, manifest: Manifest): Promise<string[]> {
  const consumer = { name: "consumer", private: true, type: "module" };
  await writeFile(join(folder, "package.json"), JSON.stringify(consumer));
  return isLong || onWindows ? installed(folder, manifest) : placed(folder, manifest);
}

async function installed(folder: string, { devDependencies }: Manifest): Promise<string[]> {
  // Without `prepack`: `pretest` has built dist, which other tests use at the same time.
  const flagsOfPack = ["--json", "--silent", "--ignore-scripts", "--pack-destination", folder];
  const { stdout } = await run(npm, ["pack", ...flagsOfPack]);
  const [packed] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  if (packed === undefined) throw new Error("npm packed nothing.");
  const flags = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
  const libraries = librariesOfSamples.map((name) => `${name}@${devDependencies[name]}`);
  const packages = [`./${packed.filename}`, ...libraries];
  await run(npm, ["install", ...packages, ...flags], { cwd: folder });
  return packed.files.map(({ path }) => path);
}

async function placed(folder: string, { bin, files, dependencies }: Manifest): Promise<string[]> {
  const modules = join(folder, "node_modules");
  const target = join(modules, "tidings");
  // npm adds these to `files`.
  const always = ["package.json", "README.md", "LICENSE"];
  for (const name of [...files, ...always]) await cp(name, join(target, name), { recursive: true });
  for (const name of [...Object.keys(dependencies), ...librariesOfSamples]) {
    await symlink(resolve("node_modules", name), join(modules, name));
  }
  await mkdir(join(modules, ".bin"));
  for (const [name, path] of Object.entries(bin)) {
    await chmod(join(target, path), 0o755);
    await symlink(join("..", "tidings", path), join(modules, ".bin", name));
  }
  return globSync("**", { cwd: target }).filter((path) => statSync(join(target, path)).isFile());
}
