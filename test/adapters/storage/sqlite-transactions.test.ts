import type { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { sqlite } from "../../../adapters/storage/sqlite/index.ts";
import type { MessagingEngine } from "../../../src/engine.ts";
import { world } from "../../support/world.ts";
import { held } from "../../support/carrier.ts";
import { closing, notes, says, temporaryFile, write } from "./sqlite-files.ts";
import { firstSchema, insertNote } from "./sqlite-schemas.ts";

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

describe("a call from inside engine.transaction on SQLite that does not join it", () => {
  const hello = { to: "+15005550001", body: "Hello" };
  const calls: Record<string, (engine: MessagingEngine) => Promise<unknown>> = {
    "a command": ({ messages }) => messages.send(hello),
    "a command with a key": ({ messages }) => messages.send(hello, { idempotencyKey: "k" }),
    "a batch": ({ messages }) => messages.batch({ messages: [hello] }, { idempotencyKey: "b" }),
    "another transaction": (engine) => engine.transaction(async () => "never"),
    "a command after some awaits": async ({ messages }) => {
      await messages.list();
      return messages.send(hello);
    },
  };

  it.each(Object.entries(calls))("is refused at once: %s", async (_, call) => {
    // Without the check it would wait for a timer.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const engine = world().engine(sqlite({ file: await temporaryFile() }));
    const work = engine.transaction(async (tx) => {
      await engine.contacts.create({ name: "Zoe" }, { tx });
      await call(engine);
    });
    await expect(work).rejects.toMatchObject({
      code: "invalid_option",
      retryable: false,
      message: expect.stringMatching(/^tx: this call comes from inside a transaction .* \{ tx \}/),
    });
    expect((await engine.contacts.list()).data).toEqual([]);
    await engine.messages.send(hello);
  });

  it("is accepted when the transaction has ended", async () => {
    const engine = world().engine(sqlite({ file: await temporaryFile() }));
    const ended = held<undefined>();
    const { later } = await engine.transaction(async (tx) => {
      await engine.messages.send(hello, { tx });
      return { later: ended.promise.then(() => engine.messages.send(hello)) };
    });
    ended.answer(undefined);
    expect(await later).toMatchObject({ status: "queued" });
    expect((await engine.messages.list()).data).toHaveLength(2);
  });
});
