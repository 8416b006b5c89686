/**
 * What a power failure may leave at the end of SQLite's write-ahead log (the format:
 * https://sqlite.org/fileformat2.html#walformat): part of a frame that was being written. With
 * `synchronous=FULL` the engine acknowledges nothing before its commit is on the disk. So what was
 * acknowledged is never in the torn frame: only bytes after the last commit are overwritten here.
 */
import { open, readFile } from "node:fs/promises";
import type { Dice } from "../dice.ts";

const headerBytes = 32;
const frameHeaderBytes = 24;

/**
 * Overwrites the place after the last commit, or after the last whole frame of a transaction
 * without a commit, with the beginning of a frame. Returns whether there is a log.
 */
export async function tearLog(file: string, dice: Dice): Promise<boolean> {
  const log = await readFile(file).catch(() => undefined);
  if (log === undefined || log.length < headerBytes) return false;
  const frameBytes = frameHeaderBytes + log.readUInt32BE(8);
  const { afterCommits, afterFrames } = endsOf(log, frameBytes);
  const torn = Buffer.alloc(frameBytes, dice.whole(0, 256));
  // No page of a small database has such a number, so even one byte changes a frame that is there.
  torn.writeUInt32BE(dice.whole(0x01_00_00_00, 0xff_ff_ff_ff), 0);
  // It claims to be a commit of this log. Only its checksum is wrong.
  torn.writeUInt32BE(dice.whole(1, 100), 4);
  log.copy(torn, 8, 16, 24);
  await using handle = await open(file, "r+");
  const at = dice.percent(50) ? afterCommits : afterFrames;
  await handle.write(torn, 0, dice.whole(1, frameBytes + 1), at);
  return true;
}

interface Ends {
  /** The place after the last frame that ends a transaction. */
  readonly afterCommits: number;
  /** The place after the last whole frame. */
  readonly afterFrames: number;
}

function endsOf(log: Buffer, frameBytes: number): Ends {
  const isBigEndian = (log.readUInt32BE(0) & 1) === 1;
  const word = (at: number): number => (isBigEndian ? log.readUInt32BE(at) : log.readUInt32LE(at));
  let sums: readonly [number, number] = [log.readUInt32BE(24), log.readUInt32BE(28)];
  let afterCommits = headerBytes;
  let at = headerBytes;
  for (; at + frameBytes <= log.length; at += frameBytes) {
    sums = checksum(checksum(sums, word, at, 8), word, at + frameHeaderBytes, log.readUInt32BE(8));
    const isOfThisLog = log.compare(log, 16, 24, at + 8, at + 16) === 0;
    const [first, second] = sums;
    const isWhole = first === log.readUInt32BE(at + 16) && second === log.readUInt32BE(at + 20);
    if (!isOfThisLog || !isWhole) break;
    if (log.readUInt32BE(at + 4) !== 0) afterCommits = at + frameBytes;
  }
  return { afterCommits, afterFrames: at };
}

function checksum(
  [s, t]: readonly [number, number],
  word: (at: number) => number,
  from: number,
  bytes: number,
): readonly [number, number] {
  let [first, second] = [s, t];
  for (let at = from; at < from + bytes; at += 8) {
    first = (first + word(at) + second) >>> 0;
    second = (second + word(at + 4) + first) >>> 0;
  }
  return [first, second];
}
