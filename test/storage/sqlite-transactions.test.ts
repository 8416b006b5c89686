import type { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import { held } from "../support/carrier.ts";
import { closing, notes, temporaryFile, write } from "./sqlite-files.ts";
import { firstSchema, insertNote } from "./sqlite-schemas.ts";

describe("the SQLite storage's own transactions", () => {
  async function opened() {
    const port = closing(sqlite({ file: await temporaryFile() }));
    await port.open(firstSchema);
    if (port.transaction === undefined) throw new Error("transactions are not offered");
    return { port, transaction: port.transaction.bind(port) };
  }
  const count = (tx: DatabaseSync): unknown => tx.prepare("SELECT count(*) AS n FROM tidings_notes").get()?.["n"];

  it("let a group that came before the next one commit before it, however many are queued", async () => {
    const { port, transaction } = await opened();
    const gate = held<undefined>();
    const first = transaction(async () => gate.promise);
    await port.turn();
    const group = write(port, insertNote("a"));
    const behind = [1, 2, 3].map(() => transaction(async (tx) => count(tx)));
    gate.answer(undefined);
    expect(await Promise.all(behind)).toEqual([1, 1, 1]);
    await Promise.all([first, group]);
  });

  it("don't wait for ever when one is opened within another, and those behind go on", async () => {
    const { port, transaction } = await opened();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const inner = held<unknown>();
    const outer = transaction(async () => {
      const nested = transaction(async (tx) => count(tx));
      nested.catch(inner.answer);
      await nested;
    });
    const outcome = outer.catch((error: unknown) => error);
    await port.turn();
    const behind = write(port, insertNote("a"));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await outcome).toMatchObject({ code: "storage_unavailable", retryable: true });
    expect(await inner.promise).toMatchObject({ message: expect.stringMatching(/open for too long/) });
    await behind.catch(() => write(port, insertNote("a")));
    expect(await notes(port)).toEqual(["a"]);
  });
});
