/** Example programs as their readers start them: real processes, real sockets, and the built package. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";

export interface Program extends AsyncDisposable {
  /** All that it has printed so far. */
  output(): string;
  /** All that it has complained of, once it has ended. */
  complaint(): Promise<string>;
  /** Resolves with what `pattern` found in the output. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends Ctrl-C. Resolves with its status when it has ended. */
  interrupt(): Promise<number | null>;
  /** Resolves with its status when it ends by itself. */
  ended(): Promise<number | null>;
}

export function start(
  file: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Program {
  if (!existsSync("dist/index.js")) throw new Error("Nothing is built: npm run build");
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...process.env, NO_COLOR: undefined, FORCE_COLOR: undefined, PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  const complaint = text(child.stderr);
  const ended = once(child, "close").then(([status]) => status as number | null);
  return {
    output: () => output,
    complaint: () => complaint,
    async printed(pattern) {
      for (;;) {
        const found = pattern.exec(output);
        if (found !== null) return found;
        const more = await Promise.race([once(child.stdout, "data"), ended.then(() => undefined)]);
        if (more === undefined && !pattern.test(output)) {
          throw new Error(`${file} ended without ${String(pattern)}:\n${output}${await complaint}`);
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
