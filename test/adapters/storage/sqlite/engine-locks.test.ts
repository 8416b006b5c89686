import { readdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../../../adapters/storage/sqlite/index.ts";
import type { EngineLocks } from "../../../../src/ports/engine-locks.ts";
import { firstSchema } from "../notes.ts";
import { closing } from "../port.ts";
import { Peer, temporaryDirectory, temporaryFile } from "./files.ts";

async function locksOn(file: string): Promise<EngineLocks> {
  const port = closing(sqlite({ file }));
  await port.open(firstSchema);
  if (port.engineLocks === undefined) throw new Error("no locks");
  return port.engineLocks;
}

/** The files beside the database, other than its log and the index of its log. */
async function filesBeside(file: string): Promise<readonly string[]> {
  const names = await readdir(dirname(file));
  return names.filter((name) => !/\.db(-wal|-shm)?$/.test(name));
}

describe("the lock of an engine on SQLite", () => {
  it("is held while its process lives, and is free once the process is killed", async () => {
    const file = await temporaryFile();
    const locks = await locksOn(file);
    const peer = new Peer("lock", file);
    expect(await peer.line()).toBe("ready");
    peer.go();
    const id = await peer.line();
    expect(await locks.findFree([id])).toEqual([]);
    expect(await locks.findFree([id])).toEqual([]);
    await peer.kill();
    expect(await locks.findFree([id])).toEqual([id]);
    expect(await locks.findFree([id])).toEqual([id]);
    expect(await filesBeside(file)).toEqual([]);
  });

  it("leaves no file behind: its own when it is released, those of crashed engines when it is taken", async () => {
    const file = await temporaryFile();
    const left = [`${file}-engine-0123456789abcdef`, `${file}-engine-fedcba9876543210`];
    for (const name of left) await writeFile(name, "");
    const other = join(dirname(file), `${basename(file)}-engine-room.txt`);
    await writeFile(other, "");
    const locks = await locksOn(file);
    const held = await locks.take();
    expect(await filesBeside(file)).toEqual(
      [basename(other), `${basename(file)}-engine-${held?.id}`].toSorted(),
    );
    // The locks of living engines stay.
    const second = await (await locksOn(file)).take();
    expect(held?.isHeld()).toBe(true);
    expect(await locks.findFree([held?.id ?? ""])).toEqual([]);
    await held?.release();
    await second?.release();
    expect(await filesBeside(file)).toEqual([basename(other)]);
  });

  it("cannot be taken where no file can be created, and a lock that cannot be checked is not free", async () => {
    // The name is short enough for the files of the database, but not for that of a lock.
    const file = join(await temporaryDirectory(), `${"x".repeat(240)}.db`);
    const locks = await locksOn(file);
    expect(await locks.take()).toBeUndefined();
    expect(await locks.findFree(["0123456789abcdef"])).toEqual([]);
  });

  it("is never found free by an id that no engine on SQLite has", async () => {
    const locks = await locksOn(await temporaryFile());
    expect(await locks.findFree(["../test.db", ""])).toEqual([]);
  });
});
