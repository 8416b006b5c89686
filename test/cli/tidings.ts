/** Runs the built command `tidings` in a scratch folder, as people do in a terminal. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";

const program = resolve("dist/cli.js");

export interface Run {
  /** The standard output so far. */
  output(): string;
  /** The standard error so far. */
  errors(): string;
  /** Resolves when one of both matches. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
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
    interrupt() {
      child.kill("SIGINT");
      return ended;
    },
    ended: () => ended,
  };
}

/** Runs a command to its end. */
export async function finished(
  cwd: string,
  ...args: readonly string[]
): Promise<{ readonly status: number | null; readonly output: string; readonly errors: string }> {
  const run = tidings(cwd, ...args);
  const status = await run.ended();
  return { status, output: run.output(), errors: run.errors() };
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
