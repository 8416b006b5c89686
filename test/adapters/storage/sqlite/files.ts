/** Database files, and other processes that use them. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "tidings-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

export async function temporaryFile(): Promise<string> {
  return join(await temporaryDirectory(), "test.db");
}

/** A process that prints `ready`, waits for a line, does its work and prints the result. */
export class Peer {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(part: "open" | "count" | "lock", file: string, ...more: string[]) {
    const script = new URL("./peer.ts", import.meta.url).pathname;
    this.#process = spawn(process.execPath, [script, part, file, ...more], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    if (this.#process.stdout === null) throw new Error("no output");
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
    onTestFinished(() => void this.#process.kill());
  }

  async line(): Promise<string> {
    const { value } = (await this.#lines.next()) as { value?: string };
    return value ?? "ended without a word";
  }

  go(): void {
    this.#process.stdin?.write("go\n");
  }

  async ended(): Promise<void> {
    if (this.#process.exitCode === null) await once(this.#process, "exit");
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.ended();
  }
}
