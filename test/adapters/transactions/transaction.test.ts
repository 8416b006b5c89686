import { describe, expect, it, onTestFinished, vi } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import type { Message } from "../../../src/messages/types.ts";
import { held } from "../../support/engines/carrier.ts";
import { world } from "../../support/engines/world.ts";
import { over } from "../../support/over.ts";
import { hosts, note } from "./hosts.ts";

const hello = { to: "+15005550001", body: "Hello" };

describe.each(hosts)("engine.transaction on $name", ({ name, open }) => {
  async function opened() {
    const host = await open();
    const { clock, engine, started, log } = world();
    const one = engine(host.connect());
    const told: string[] = [];
    one.on("conversation.created", (event) => void told.push(event.id));
    const bodies = async () =>
      (await one.messages.list()).data.map(({ body }) => body).toReversed();
    return { host, clock, engine, started, log, one, told, bodies };
  }

  it("commits the host application's rows and the engine's together, and then notifies handlers", async () => {
    const { host, one, told, bodies, clock } = await opened();
    const answer = await one.transaction(async (tx) => {
      await host.run(tx, note("order 17"));
      const { id } = await one.messages.send(hello, { tx });
      await clock.settle();
      expect([told, await host.notes(), await bodies()]).toEqual([[], [], []]);
      return id;
    });
    expect([await host.notes(), await bodies()]).toEqual([["order 17"], ["Hello"]]);
    expect((await one.messages.get(answer)).status).toBe("queued");
    const events = (await one.events.list({ type: "conversation.created" })).data;
    expect(told).toEqual(events.map(({ id }) => id));
    expect(told).toHaveLength(1);
  });

  it("leaves no trace when the callback throws, and rethrows", async () => {
    const { host, one, told, bodies, clock } = await opened();
    const options = { idempotencyKey: "order-17" };
    let lost: Message | undefined;
    const failed = one.transaction(async (tx) => {
      await host.run(tx, note("order 17"));
      lost = await one.messages.send(hello, { ...options, tx });
      throw new RangeError("sold out");
    });
    await expect(failed).rejects.toThrow(new RangeError("sold out"));
    await clock.settle();
    expect([await host.notes(), await bodies(), told, (await one.events.list()).data]).toEqual([
      [],
      [],
      [],
      [],
    ]);
    await expect(one.messages.get(lost?.id ?? "")).rejects.toMatchObject({ code: "not_found" });
    // The key was freed, so this is a new message.
    const again = await one.transaction((tx) => one.messages.send(hello, { ...options, tx }));
    expect(again.id).not.toBe(lost?.id);
  });

  it("has its messages sent by another, started engine", async () => {
    const { host, started, one, clock } = await opened();
    await started(host.connect());
    const { id } = await one.transaction((tx) => one.messages.send(hello, { tx }));
    await clock.advance(10_000);
    expect((await one.messages.get(id)).status).toBe("sent");
  });

  it("has its messages sent at once by the engine itself when it is started", async () => {
    const { one, clock } = await opened();
    await one.start();
    await clock.settle();
    const { id } = await one.transaction((tx) => one.messages.send(hello, { tx }));
    await clock.settle();
    expect((await one.messages.get(id)).status).toBe("sent");
  });

  it("lets other work of the process run, between sequential transactions and while many wait", async () => {
    const { one } = await opened();
    let turns = 0;
    const turn = (): void => {
      turns++;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    onTestFinished(() => clearImmediate(next));
    const send = () => one.transaction((tx) => one.messages.send(hello, { tx }));
    for (let n = 0; n < 5; n++) await send();
    expect(turns).toBeGreaterThanOrEqual(5);
    turns = 0;
    await Promise.all(Array.from({ length: 5 }, send));
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  it("runs concurrent commands in their order", async () => {
    const { one, bodies } = await opened();
    const texts = Array.from({ length: 20 }, (_, n) => String(n));
    await one.transaction((tx) =>
      Promise.all(texts.map((body) => one.messages.send({ ...hello, body }, { tx }))),
    );
    expect(await bodies()).toEqual(texts);
  });

  it("can hold a new account and its first message", async () => {
    const { one } = await opened();
    const ids: string[] = [];
    const make = (fails: boolean) =>
      one.transaction(async (tx) => {
        const { account } = await one.accounts.create({ name: "Bakery" }, { tx });
        ids.push(account.id);
        await one.account(account.id).messages.send(hello, { tx });
        if (fails) throw new RangeError("no");
      });
    await expect(make(true)).rejects.toThrow(RangeError);
    await make(false);
    const [lost = "", kept = ""] = ids;
    await expect(one.account(lost).messages.list()).rejects.toMatchObject({ code: "not_found" });
    expect((await one.account(kept).messages.list()).data).toHaveLength(1);
  });

  it("continues after a refused command", async () => {
    const { host, one, bodies } = await opened();
    await one.transaction(async (tx) => {
      await host.run(tx, note("before"));
      await one.messages.send(hello, { tx });
      const refused = one.messages.send({ ...hello, from: "+1999999999" }, { tx });
      await expect(refused).rejects.toMatchObject({ code: "no_sender" });
      await host.run(tx, note("after"));
    });
    expect([await host.notes(), await bodies()]).toEqual([["before", "after"], ["Hello"]]);
  });

  it("publishes no event that a rollback to the host application's savepoint undid", async () => {
    const { host, one, told, bodies } = await opened();
    await one.transaction(async (tx) => {
      await host.run(tx, "SAVEPOINT mine");
      await one.messages.send(hello, { tx });
      await host.run(tx, "ROLLBACK TO SAVEPOINT mine");
      await one.messages.send({ to: "+15005550002", body: "Kept" }, { tx });
    });
    const events = (await one.events.list({ type: "conversation.created" })).data;
    expect(told).toEqual(events.map(({ id }) => id));
    expect(await bodies()).toEqual(["Kept"]);
  });

  it("commits with the host application's savepoints, released or open", async () => {
    const { host, one, bodies } = await opened();
    await one.transaction(async (tx) => {
      await host.run(tx, "SAVEPOINT released");
      await host.run(tx, note("first"));
      await host.run(tx, "RELEASE SAVEPOINT released");
      await host.run(tx, "SAVEPOINT open");
      await host.run(tx, note("second"));
      await one.messages.send(hello, { tx });
    });
    expect([await host.notes(), await bodies()]).toEqual([["first", "second"], ["Hello"]]);
  });

  const endings = ["COMMIT", "ROLLBACK", "COMMIT; BEGIN", "ROLLBACK; BEGIN"];
  if (name === "PostgreSQL") endings.push("COMMIT AND CHAIN", "ROLLBACK AND CHAIN");
  it.each(endings)(
    "refuses a function that runs %s itself, with an error that is not retryable",
    async (statement) => {
      const { host, one, bodies } = await opened();
      const ended = one.transaction(async (tx) => {
        await one.messages.send(hello, { tx });
        await host.run(tx, statement);
      });
      await expect(ended).rejects.toMatchObject({
        code: "invalid_option",
        retryable: false,
        message: expect.stringMatching(/ended before your function returned/),
      });
      expect(await bodies()).toEqual(statement.startsWith("COMMIT") ? ["Hello"] : []);
      await one.transaction((tx) => one.messages.send({ ...hello, body: "Next" }, { tx }));
      expect((await bodies()).at(-1)).toBe("Next");
    },
  );

  it("does not commit what the function did in a transaction that it began itself", async () => {
    const { host, one, bodies } = await opened();
    const ended = one.transaction(async (tx) => {
      await host.run(tx, "ROLLBACK; BEGIN");
      await host.run(tx, note("mine"));
      await one.messages.send(hello, { tx });
    });
    await expect(ended).rejects.toMatchObject({ code: "invalid_option" });
    expect([await host.notes(), await bodies()]).toEqual([[], []]);
  });

  it.each(["COMMIT", "ROLLBACK"])(
    "tells a command that comes after the function's own %s that the transaction has ended",
    async (statement) => {
      const { host, one } = await opened();
      const ended = one.transaction(async (tx) => {
        await host.run(tx, statement);
        await one.messages.send(hello, { tx });
      });
      await expect(ended).rejects.toMatchObject({
        code: "invalid_option",
        message: expect.stringMatching(/^transaction: .* ended before your function returned/),
      });
    },
  );

  it("throws the database's error when a constraint that is checked at COMMIT fails", async () => {
    const { host, one, bodies } = await opened();
    const failed = one.transaction(async (tx) => {
      await host.run(
        tx,
        "CREATE TABLE replies (id INTEGER REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED)",
      );
      await host.run(tx, "INSERT INTO replies VALUES (99)");
      await one.messages.send(hello, { tx });
    });
    const foreignKey = name === "PostgreSQL" ? { code: "23503" } : { errcode: 787 };
    await expect(failed).rejects.toMatchObject(foreignKey);
    expect(await bodies()).toEqual([]);
  });

  it("makes its handle unusable after its end", async () => {
    const { host, one, bodies } = await opened();
    let kept: object = {};
    const failed = one.transaction(async (tx) => {
      kept = tx;
      throw new RangeError("no");
    });
    await expect(failed).rejects.toThrow(RangeError);
    await expect(one.messages.send(hello, { tx: kept })).rejects.toMatchObject({
      code: "invalid_option",
    });
    await one.transaction(async (tx) => {
      await host.run(tx, note("mine"));
      await expect(host.run(kept, note("not mine"))).rejects.toThrow(Error);
      await expect(one.messages.send(hello, { tx: kept })).rejects.toMatchObject({
        code: "invalid_option",
      });
    });
    expect([await host.notes(), await bodies()]).toEqual([["mine"], []]);
  });

  it("ends before the engine has stopped, or at the deadline without a trace", async () => {
    const { host, one, clock } = await opened();
    const two = world().engine(host.connect());
    const hold = held<undefined>();
    const committed = one.transaction(async (tx) => {
      await host.run(tx, note("in time"));
      await hold.promise;
    });
    await clock.settle();
    const stopped = one.stop();
    await clock.settle();
    hold.answer(undefined);
    await Promise.all([committed, stopped]);

    const begun = held<undefined>();
    const lost = two.transaction(async (tx) => {
      await host.run(tx, note("late"));
      begun.answer(undefined);
      await hold.promise.then(() => new Promise(() => {}));
    });
    void lost.catch(() => {});
    await begun.promise;
    await two.stop({ deadlineMs: 0 });
    expect(await host.notes()).toEqual(["in time"]);
  });

  it("may call more commands and read while the engine stops", async () => {
    const { host, engine, one, clock } = await opened();
    const hold = held<undefined>();
    const transaction = one.transaction(async (tx) => {
      const { id } = await one.messages.send(hello, { tx });
      await hold.promise;
      await one.messages.cancel(id, { tx });
      return one.messages.list();
    });
    await clock.settle();
    const stopped = one.stop();
    await clock.settle();
    hold.answer(undefined);
    expect((await transaction).data).toEqual([]);
    await stopped;
    await expect(one.messages.list()).rejects.toMatchObject({ code: "shutting_down" });
    const { data } = await engine(host.connect()).messages.list();
    expect(data).toMatchObject([{ status: "canceled" }]);
  });

  it("is aborted at the deadline of stop, and the work that waited for it is done", async () => {
    // The storage's own timeouts play no part, because its time stands still.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { host, engine, one, clock } = await opened();
    await one.start();
    const begun = held<undefined>();
    const stuck = one.transaction(async (tx) => {
      await host.run(tx, note("late"));
      begun.answer(undefined);
      await new Promise(() => {});
    });
    const outcome = stuck.catch((error: unknown) => error);
    await begun.promise;
    // On SQLite, it waits for the other one.
    let isNextCalled = false;
    const next = one
      .transaction(async () => {
        isNextCalled = true;
        await new Promise(() => {});
      })
      .catch((error: unknown) => error);
    const sends = ["a", "b", "c"].map((body) => one.messages.send({ ...hello, body }));
    await clock.settle();
    const began = clock.now();
    let stoppedAt = 0;
    const stopped = one.stop({ deadlineMs: 1_000 }).then(() => (stoppedAt = clock.now()));
    await clock.advanceUntil(() => stoppedAt > 0);
    await stopped;
    expect(stoppedAt - began).toBe(1_000);
    expect(await outcome).toMatchObject({ code: "shutting_down" });
    expect(await next).toMatchObject({ code: "shutting_down" });
    expect(isNextCalled).toBe(name !== "SQLite");
    await Promise.all(sends);
    const { data } = await engine(host.connect()).messages.list();
    const bodies = data.map(({ body }) => String(body));
    expect([bodies.toSorted(), await host.notes()]).toEqual([["a", "b", "c"], []]);
  });

  it("is committed even when its events cannot be read back, and publishes none", async () => {
    const host = await open();
    const { engine, log } = world();
    const storage = host.connect();
    let broken = false;
    const reader = over(storage.reader, {
      get: (lookups) => (broken ? Promise.reject(new Error("gone")) : storage.reader.get(lookups)),
    });
    const one = engine(over(storage, { reader }));
    const told: string[] = [];
    one.on("conversation.created", (event) => void told.push(event.id));
    await one.transaction(async (tx) => {
      await one.messages.send(hello, { tx });
      broken = true;
    });
    broken = false;
    expect([told, (await one.messages.list()).data.length]).toEqual([[], 1]);
    expect(log.map(({ level }) => level)).toEqual(["warn"]);
  });
});

it("a storage without transactions says so", async () => {
  const one = world().engine(memory());
  await expect(one.transaction(async () => {})).rejects.toMatchObject({
    code: "invalid_option",
    message: expect.stringMatching(
      /^transaction: this storage does not .* postgres\(\{ pool \}\) do\.$/,
    ),
  });
});
