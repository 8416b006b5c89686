/**
 * Puts temporary files into memory (`/dev/shm`) if there is room, so that tests do not wait for the
 * disk. No test cuts the machine's power, so none needs its files to be on a disk.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

const memory = "/dev/shm";
/** Several times what a test run needs. */
const minFreeBytes = 4 * 1024 ** 3;

export function setup(): (() => void) | undefined {
  if (!hasRoom()) return undefined;
  sweep();
  const folder = mkdtempSync(join(memory, `tidings-${process.pid}-`));
  // A process that ends may still write into the folder, such as what Node has compiled.
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  if (!runsPrograms(folder)) {
    remove();
    return undefined;
  }
  // PostgreSQL may run as another user, whose folders are inside this one.
  chmodSync(folder, 0o711);
  process.env["TMPDIR"] = folder;
  // Programs that tests start many times are compiled once.
  process.env["NODE_COMPILE_CACHE"] ??= join(folder, "compiled");
  return remove;
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= minFreeBytes;
  } catch {
    return false;
  }
}

/** Containers often mount it without execute permission, which an unpacked browser needs. */
function runsPrograms(folder: string): boolean {
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  try {
    execFileSync(program);
    return true;
  } catch {
    return false;
  }
}

/**
 * Removes the folders of test runs that were killed. A test may have mounted a small disk in one. If
 * a folder cannot be removed, it stays.
 */
function sweep(): void {
  for (const name of readdirSync(memory)) {
    const [, pid] = /^tidings-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const folder = join(memory, name);
    try {
      for (const disk of mountedIn(folder)) {
        execFileSync("umount", ["-l", disk], { stdio: "ignore" });
      }
      rmSync(folder, { recursive: true, force: true });
    } catch {
      continue;
    }
  }
}

/** Returns the mount points inside a folder. The innermost ones come first. */
function mountedIn(folder: string): string[] {
  const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n");
  return mounts
    .map((line) => line.split(" ")[1] ?? "")
    .filter((point) => point.startsWith(`${folder}/`))
    .toReversed();
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
