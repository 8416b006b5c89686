import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

interface ChildOptions {
  readonly cwd: string;
  /** Ends the child if it prints no line for this many milliseconds. */
  readonly silentMs: number;
  /** Called with each line that the child prints. Returns true to end the child. */
  readonly onLine?: (line: string) => boolean;
}

interface ChildEnd {
  /** The exit code. Null if this process ended the child. */
  readonly code: number | null;
  /** Whether the child was ended because it printed nothing. */
  readonly isStuck: boolean;
  /** The last lines that it wrote to stderr and stdout. */
  readonly output: string;
}

const keptLines = 60;

/** Runs a Node program with its arguments, in a process group of its own. */
export async function runNode(
  args: readonly string[],
  { cwd, silentMs, onLine = () => false }: ChildOptions,
): Promise<ChildEnd> {
  const child = spawn(process.execPath, args, {
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stop = (): void => {
    // The whole group: tests start servers and workers.
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    if (child.pid !== undefined && !hasEnded) process.kill(-child.pid, "SIGKILL");
  };
  process.once("exit", stop);
  let isStuck = false;
  const timer = setTimeout(() => {
    isStuck = true;
    stop();
  }, silentMs);
  const lines: string[] = [];
  const keep = (line: string): void => {
    timer.refresh();
    lines.push(line);
    if (lines.length > keptLines) lines.shift();
  };
  createInterface(child.stderr).on("line", keep);
  createInterface(child.stdout).on("line", (line) => {
    keep(line);
    if (onLine(line)) stop();
  });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    return { code, isStuck, output: lines.join("\n") };
  } finally {
    clearTimeout(timer);
    process.removeListener("exit", stop);
  }
}
