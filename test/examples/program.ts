/**
 * Runs example programs the way readers do: as processes, on real sockets, with the built package.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";

export interface Program extends AsyncDisposable {
  /** Standard output so far. */
  output(): string;
  /** Standard error. Resolves when the program has ended. */
  errors(): Promise<string>;
  /** Resolves when the output matches `pattern`. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends Ctrl-C. Resolves with the exit status. */
  interrupt(): Promise<number | null>;
  /** Resolves with the exit status when the program has ended. */
  ended(): Promise<number | null>;
}

export function start(
  file: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
  cwd = process.cwd(),
): Program {
  if (!existsSync("dist/index.js")) {
    throw new Error("The package is not built. Run `npm run build` first.");
  }
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...process.env, NO_COLOR: undefined, FORCE_COLOR: undefined, PORT: "0", ...env },
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  const errors = text(child.stderr);
  const ended = once(child, "close").then(([status]) => status as number | null);
  return {
    output: () => output,
    errors: () => errors,
    async printed(pattern) {
      for (;;) {
        const found = pattern.exec(output);
        if (found !== null) return found;
        const more = await Promise.race([once(child.stdout, "data"), ended.then(() => undefined)]);
        if (more === undefined && !pattern.test(output)) {
          throw new Error(`${file} ended without ${String(pattern)}:\n${output}${await errors}`);
        }
      }
    },
    interrupt() {
      child.kill("SIGINT");
      return ended;
    },
    ended: () => ended,
    async [Symbol.asyncDispose]() {
      if (isRunning(child)) child.kill("SIGTERM");
      await ended;
    },
  };
}

const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null;
