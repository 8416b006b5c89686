import type { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { sqlite } from "../../../../adapters/storage/sqlite/index.ts";
import { held } from "../../../support/engines/carrier.ts";
import { firstSchema, insertNote, notes } from "../notes.ts";
import { closing, says, write } from "../port.ts";
import { temporaryFile } from "./files.ts";

describe("transactions of the SQLite storage", () => {
  async function opened() {
    const port = closing(sqlite({ file: await temporaryFile() }));
    await port.open(firstSchema);
    if (port.transaction === undefined) throw new Error("transactions are not offered");
    return { port, transaction: port.transaction.bind(port) };
  }
  const count = (tx: DatabaseSync): unknown =>
    tx.prepare("SELECT count(*) AS n FROM tidings_notes").get()?.["n"];

  it("let a group commit before a transaction that was requested later, however many are queued", async () => {
    const { port, transaction } = await opened();
    const gate = held<undefined>();
    const first = transaction(async () => gate.promise);
    await port.yieldToEventLoop();
    const group = write(port, insertNote("a"));
    const behind = [1, 2, 3].map(() => transaction(async (tx) => count(tx)));
    gate.answer(undefined);
    expect(await Promise.all(behind)).toEqual([1, 1, 1]);
    await Promise.all([first, group]);
  });

  it("do not wait forever when one is opened within another, and later ones run", async () => {
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
    await port.yieldToEventLoop();
    const behind = write(port, insertNote("a")).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await outcome).toMatchObject({ code: "storage_unavailable", retryable: true });
    expect(await inner.promise).toMatchObject({
      message: expect.stringMatching(
        /more than 5 s\. If the same code fails at every call, .* only sometimes/,
      ),
    });
    // It waited for the outer transaction, which has ended.
    expect(await behind).toMatchObject({ code: "storage_unavailable", retryable: true });
    await write(port, insertNote("a"));
    expect(await notes(port)).toEqual(["a"]);
  });

  it("name the mistake when their function closes the handle, and later ones run", async () => {
    const { port, transaction } = await opened();
    const ended = {
      code: "invalid_option",
      message: expect.stringMatching(/ended before your function returned.* closed the handle/),
    };
    await expect(transaction(async (tx) => tx.close())).rejects.toMatchObject(ended);
    const joined = transaction(async (tx) => {
      tx.close();
      port.host?.(tx);
    });
    await expect(joined).rejects.toMatchObject(ended);
    const reopened = transaction(async (tx) => {
      tx.close();
      tx.open();
    });
    await expect(reopened).rejects.toMatchObject(ended);
    expect(await transaction(async (tx) => count(tx))).toBe(0);
  });

  it("refuse all that wait after 5 seconds from the beginning of one that never ends", async () => {
    const { port, transaction } = await opened();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const refusals = new Map<string, unknown>();
    const refused = (work: Promise<unknown>, name: string): Promise<unknown> =>
      work.catch((error: unknown) => void refusals.set(name, error));
    const hold = held<undefined>();
    const stuck = transaction(async () => hold.promise);
    await port.yieldToEventLoop();
    const early = refused(write(port, insertNote("early")), "early");
    await vi.advanceTimersByTimeAsync(3_000);
    const late = refused(write(port, insertNote("late")), "late");
    const other = refused(
      transaction(async () => {}),
      "other",
    );
    await vi.advanceTimersByTimeAsync(1_999);
    expect([...refusals.keys()]).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect([...refusals.keys()].toSorted()).toEqual(["early", "late", "other"]);
    const afterwards = refused(write(port, insertNote("afterwards")), "afterwards");
    await port.yieldToEventLoop();
    expect(refusals.has("afterwards")).toBe(true);
    for (const error of refusals.values()) {
      expect(error).toMatchObject({
        code: "storage_unavailable",
        message: says(/held .* for more than 5 s/),
      });
    }
    await Promise.all([early, late, other, afterwards]);

    hold.answer(undefined);
    await stuck;
    await write(port, insertNote("again"));
    expect(await notes(port)).toEqual(["again"]);
  });
});
