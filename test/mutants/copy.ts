import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { planted, type Mutant } from "./mutant.ts";

/** The root of the repository. */
const root = fileURLToPath(new URL("../..", import.meta.url));
const notCopied = new Set([".git", "node_modules", "dist"]);

/** A copy of the repository, in which bugs are planted. The repository itself is never changed. */
export class WorkingCopy implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(): Promise<WorkingCopy> {
    const path = await mkdtemp(join(tmpdir(), "tidings-mutants-"));
    await cp(root, path, {
      recursive: true,
      filter: (source) =>
        !relative(root, source)
          .split(sep)
          .some((name) => notCopied.has(name)),
    });
    await symlink(join(root, "node_modules"), join(path, "node_modules"), "dir");
    return new WorkingCopy(path);
  }

  /** Plants a bug until the result is disposed of. */
  async plant(mutant: Mutant): Promise<AsyncDisposable> {
    const path = join(this.path, mutant.file);
    const before = await readFile(path, "utf8");
    await writeFile(path, planted(mutant, before));
    return { [Symbol.asyncDispose]: () => writeFile(path, before) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
