/** Runs the command `tidings` in a scratch folder, as people do in a terminal. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { onTestFinished, vi } from "vitest";
import type { Command } from "../../adapters/cli/command.ts";
import { doctor } from "../../adapters/cli/doctor/command.ts";
import { reportFailure } from "../../adapters/cli/failures.ts";
import { keys } from "../../adapters/cli/keys.ts";
import { migrate } from "../../adapters/cli/migrate.ts";
import { isLong } from "../support/runs.ts";

const program = resolve("dist/cli.js");

export interface Run {
  /** The standard output so far. */
  output(): string;
  /** The standard error so far. */
  errors(): string;
  /** Resolves when one of both matches. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Closes the reading end of both outputs, as a program in a pipe does that ends. */
  stopReading(): void;
  /** Sends Ctrl+C. Resolves with the exit status. */
  interrupt(): Promise<number | null>;
  /** Resolves with the exit status. */
  ended(): Promise<number | null>;
}

/** An empty folder. It is removed when the test has finished. */
export async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tidings-cli-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a command. It is stopped when the test has finished. */
export function tidings(cwd: string, ...args: readonly string[]): Run {
  if (!existsSync(program)) throw new Error("The package is not built. Run `npm run build` first.");
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, NO_COLOR: undefined, FORCE_COLOR: undefined },
    stdio: ["ignore", "pipe", "pipe"],
    cwd,
  });
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (errors += chunk));
  const ended = once(child, "close").then(([status]) => status as number | null);
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
    await ended;
  });
  return {
    output: () => output,
    errors: () => errors,
    async printed(pattern) {
      for (;;) {
        const found = pattern.exec(output) ?? pattern.exec(errors);
        if (found !== null) return found;
        const more = await Promise.race([
          once(child.stdout, "data"),
          once(child.stderr, "data"),
          ended.then(() => undefined),
        ]);
        if (more === undefined && !pattern.test(output) && !pattern.test(errors)) {
          throw new Error(
            `tidings ${args.join(" ")} ended without ${pattern}:\n${output}${errors}`,
          );
        }
      }
    },
    stopReading() {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    interrupt() {
      child.kill("SIGINT");
      return ended;
    },
    ended: () => ended,
  };
}

interface Finished {
  readonly status: number;
  readonly output: string;
  readonly errors: string;
}

/** Commands that end by themselves. */
const shortCommands: Readonly<Record<string, Command>> = { doctor, keys, migrate };

/**
 * Runs a command to its end. `npm test` runs some commands in this process: one of its own takes
 * half a second of a core to load the package. So one command runs at a time.
 */
export async function finished(cwd: string, ...args: readonly string[]): Promise<Finished> {
  const [name = "", ...rest] = args;
  const command = shortCommands[name];
  const isInProcess = !isLong && !rest.includes("--help");
  if (isInProcess && command !== undefined) return finishedHere(cwd, command, rest);
  const run = tidings(cwd, ...args);
  const status = await run.ended();
  return { status: status ?? -1, output: run.output(), errors: run.errors() };
}

async function finishedHere(
  cwd: string,
  command: Command,
  args: readonly string[],
): Promise<Finished> {
  const { stdout, stderr, exitCode } = process;
  const home = process.cwd();
  const written = [stdout, stderr].map((stream) => {
    let text = "";
    const spy = vi.spyOn(stream, "write").mockImplementation((chunk) => {
      text += stripVTControlCharacters(String(chunk));
      return true;
    });
    return { text: () => text, restore: () => spy.mockRestore() };
  });
  process.chdir(cwd);
  process.exitCode = 0;
  try {
    await command.run(args, new AbortController().signal).catch((error: unknown) => {
      process.exitCode = reportFailure(error);
    });
    const [output, errors] = written.map(({ text }) => text());
    return { status: process.exitCode, output: output ?? "", errors: errors ?? "" };
  } finally {
    process.exitCode = exitCode;
    process.chdir(home);
    for (const { restore } of written) restore();
  }
}

/** A running `tidings dev`, and its API. */
export interface Dev extends Run {
  readonly url: string;
  readonly key: string;
  get(path: string): Promise<Response>;
  post(path: string, body: object): Promise<Response>;
}

/** Starts `tidings dev` on a free port. Resolves when it serves. */
export async function dev(cwd: string, ...args: readonly string[]): Promise<Dev> {
  const run = tidings(cwd, "dev", "--port", "0", ...args);
  await run.printed(/Press Ctrl\+C/);
  const [, url = ""] = await run.printed(/API +(\S+)\/v1/);
  const [, key = ""] = await run.printed(/Key +(tdg_test_\w+)/);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return {
    ...run,
    url,
    key,
    get: (path) => fetch(`${url}/v1${path}`, { headers }),
    post: (path, body) =>
      fetch(`${url}/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) }),
  };
}
