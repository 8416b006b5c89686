/**
 * A file system of its own, which can be made full or read-only. Mounting one needs root on Linux.
 */
import { execFile } from "node:child_process";
import { statfs } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A limit that no run reaches. The memory is not taken before it is used. */
const roomyBytes = 8 * 2 ** 30;

export interface SmallDisk extends AsyncDisposable {
  /** Leaves only so many bytes free. */
  fill(freeBytes: number): Promise<void>;
  /** Ends `fill`. */
  makeRoom(): Promise<void>;
  setReadOnly(isReadOnly: boolean): Promise<void>;
}

/** Mounts a file system in memory at the directory. Undefined where that is not allowed. */
export async function mountDisk(directory: string): Promise<SmallDisk | undefined> {
  const mount = (options: string): Promise<unknown> =>
    run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", directory]);
  try {
    await mount(`size=${roomyBytes}`);
  } catch {
    return undefined;
  }
  return {
    async fill(freeBytes) {
      const { blocks, bfree, bsize } = await statfs(directory);
      const size = (blocks - bfree) * bsize + freeBytes;
      // The engine may have written meanwhile. Then nothing is free, and the disk stays as it is.
      await mount(`remount,size=${size}`).catch(() => {});
    },
    async makeRoom() {
      await mount(`remount,size=${roomyBytes}`);
    },
    async setReadOnly(isReadOnly) {
      await mount(`remount,${isReadOnly ? "ro" : "rw"}`);
    },
    async [Symbol.asyncDispose]() {
      await run("umount", ["-l", directory]);
    },
  };
}
