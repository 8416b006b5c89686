import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";

/** A process that computes until its parent ends. */
const spin = "const parent = process.ppid; while (process.ppid === parent) Math.random();";

/**
 * Keeps each core busy with a process of the same priority as this one, until the returned function
 * is called.
 */
export function keepCoresBusy(): () => void {
  const children = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ["-e", spin], { stdio: "ignore" }),
  );
  return () => {
    for (const child of children) child.kill();
  };
}
