import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { call, jsonOf } from "../api/call.ts";
import { accepted, carrier, held } from "../support/engines/carrier.ts";
import { stopping, world } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { over } from "../support/over.ts";
import { lightStorages } from "../support/storage/storages.ts";

const hello = { to: "+15005550001", body: "Hello" };

function closing(): { readonly storage: StoragePort; readonly closes: () => number } {
  const storage = memory();
  let closes = 0;
  return {
    storage: over(storage, {
      close() {
        closes++;
        return storage.close();
      },
    }),
    closes: () => closes,
  };
}

describe("an engine that stops", () => {
  it("closes the storage and stops the other transports if one transport throws", async () => {
    const { engine, log } = world();
    const { storage, closes } = closing();
    const first = carrier();
    const second = over(carrier({ name: "second" }), {
      stop() {
        throw new Error("a bug of the adapter");
      },
    });
    const one = engine(storage, { transports: [first, second] });
    await one.start();
    await one.stop();
    expect([first.stops, closes()]).toEqual([1, 1]);
    expect(log).toMatchObject([{ level: "warn", facts: { transport: "second" } }]);
  });

  it("waits for a transport until the deadline, then continues without it", async () => {
    const { clock, engine, log } = world();
    const { storage, closes } = closing();
    const line = carrier();
    const first = over(line, {
      async stop() {
        for (let turns = 0; turns < 10; turns++) await Promise.resolve();
        await line.stop?.();
      },
    });
    const second = over(carrier({ name: "second" }), { stop: () => new Promise<void>(() => {}) });
    const one = engine(storage, { transports: [first, second] });
    await one.start();
    let isOver = false;
    const stop = one.stop({ deadlineMs: 3_000 }).then(() => {
      isOver = true;
    });
    await clock.advance(2_999);
    expect([isOver, closes()]).toEqual([false, 0]);
    await clock.advance(1);
    expect([isOver, closes(), line.stops]).toEqual([true, 1, 1]);
    await stop;
    expect(log).toMatchObject([{ level: "warn", facts: { transport: "second" } }]);
    expect(clock.nextWakeAt).toBeUndefined();
  });

  it("waits for a transport that starts until the deadline, and undoes a later start", async () => {
    const { clock, engine } = world();
    const { storage, closes } = closing();
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = carrier();
    const second = carrier({ name: "second" });
    const slow = over(second, { start: () => promise });
    const one = engine(storage, { transports: [first, slow] });
    const started = outcome(one.start());
    await clock.settle();
    const isOver = stopping(one);
    await clock.advance(2_999);
    expect([isOver(), closes()]).toEqual([false, 0]);
    await clock.advance(1);
    expect([isOver(), closes(), await started]).toEqual([true, 1, "shutting_down"]);
    expect([first.stops, second.stops]).toEqual([1, 0]);
    resolve();
    await clock.settle();
    expect(second.stops).toBe(1);
  });

  it("waits no longer than its deadline for a failed start to stop the transports", async () => {
    const { clock, engine, log } = world();
    const first = carrier();
    const second = over(carrier({ name: "second" }), { stop: () => new Promise<void>(() => {}) });
    const third = over(carrier({ name: "third" }), {
      start: () => Promise.reject(new Error("no route to the carrier")),
    });
    const one = engine(memory(), { transports: [first, second, third] });
    const started = one.start().catch((error: unknown) => error);
    await clock.settle();
    const isOver = stopping(one);
    await clock.advance(2_999);
    expect(isOver()).toBe(false);
    await clock.advance(1);
    expect([isOver(), first.stops]).toEqual([true, 1]);
    expect(await started).toMatchObject({ message: "no route to the carrier" });
    expect(log).toMatchObject([{ level: "warn", facts: { transport: "second" } }]);
    expect(clock.nextWakeAt).toBeUndefined();
  });

  it("waits no longer than its deadline for a start that is overdue", async () => {
    const { clock, engine } = world();
    const line = carrier({ name: "second" });
    let starts = 0;
    const slow = over(line, {
      start: () => {
        starts++;
        return new Promise<void>(() => {});
      },
    });
    const one = engine(memory(), { transports: [slow] });
    const failed = outcome(one.start());
    await clock.advance(30_000);
    expect(await failed).toBe("internal");
    const again = outcome(one.start());
    await clock.settle();
    const isOver = stopping(one);
    await clock.advance(3_000);
    expect([isOver(), starts]).toEqual([true, 1]);
    expect(await again).toBe("shutting_down");
  });

  it("uses one deadline for calls in progress and transports together", async () => {
    const { clock, engine } = world();
    const line = carrier({ send: () => new Promise(() => {}) });
    const one = engine(memory(), {
      transports: [over(line, { stop: () => new Promise<void>(() => {}) })],
    });
    await one.start();
    await one.messages.send(hello);
    await clock.settle();
    const isOver = stopping(one);
    await clock.advance(3_000);
    await clock.settle();
    expect(isOver()).toBe(true);
  });

  it.each([-10_000, 10_000])("keeps its deadline when the clock steps by %d ms", async (ms) => {
    const { clock, engine, log } = world();
    const step = () => clock.sleep(1_000).then(() => clock.step(ms));
    const line = carrier({ send: (_, attempt) => step().then(() => accepted(attempt)) });
    const first = over(line, { stop: () => new Promise<void>(() => {}) });
    const second = over(carrier({ name: "second" }), { stop: step });
    const one = engine(memory(), { transports: [first, second] });
    await one.start();
    await one.messages.send(hello);
    await clock.settle();
    const isOver = stopping(one);
    await clock.advance(2_999);
    expect(isOver()).toBe(false);
    await clock.advance(1);
    expect(isOver()).toBe(true);
    expect(log).toMatchObject([{ level: "warn", facts: { transport: line.name } }]);
  });

  it("says how many jobs it aborted at the deadline, and the next engine says that it continues them", async () => {
    const { clock, engine, log } = world();
    const line = carrier({ send: () => new Promise(() => {}) });
    const storage = memory();
    const one = engine(storage, { transports: [line] });
    await one.start();
    for (const to of ["+15005550001", "+15005550002"]) await one.messages.send({ ...hello, to });
    await clock.settle();
    const stop = one.stop({ deadlineMs: 3_000 });
    await clock.advance(3_000);
    await stop;
    expect(log).toMatchObject([{ level: "warn", facts: { jobs: 2 } }]);
    await engine(storage, { transports: [carrier()] }).start();
    await clock.settle();
    const message = "jobs of an engine that has ended continue";
    expect(log.slice(1)).toMatchObject([{ level: "info", facts: { jobs: 2 }, message }]);
  });

  it("counts no job as aborted if only its search for jobs lasts beyond the deadline", async () => {
    const { clock, engine, log } = world();
    const storage = memory();
    const search = held<undefined>();
    let searches = 0;
    let isSlow = false;
    const reader = over(storage.reader, {
      async range(range) {
        if (isSlow) {
          searches++;
          await search.promise;
        }
        return storage.reader.range(range);
      },
    });
    const one = engine(over(storage, { reader }));
    await one.start();
    await clock.advance(1_000);
    isSlow = true;
    await clock.advance(10_000);
    expect(searches).toBeGreaterThan(0);
    const isOver = stopping(one);
    await clock.advance(3_000);
    search.answer(undefined);
    await clock.advanceUntil(isOver);
    expect(log).toEqual([]);
  });

  it("does not close a storage that it never opened", async () => {
    const { engine } = world();
    const { storage, closes } = closing();
    await engine(storage).stop();
    expect(closes()).toBe(0);
  });
});

describe("a request to an engine that stops", () => {
  it.each(lightStorages)(
    "is refused in the same way if its storage on $name is closed during its reads",
    async ({ open }) => {
      const { engine, log } = world();
      const one = engine(open().connect());
      const { secret } = await one.apiKeys.create({ name: "test" });
      const { contact_id } = await one.messages.send(hello);
      const paths = [
        "/messages",
        "/contacts",
        `/contacts/${contact_id}/messages`,
        "/conversations",
      ];
      const asked = paths.map((path) =>
        call(one.api, { method: "GET", path: `/v1${path}`, key: secret }),
      );
      await one.stop();
      for (const answer of await Promise.all(asked)) {
        if (answer.status === 200) continue;
        expect(jsonOf(answer)).toMatchObject({
          status: 503,
          code: "shutting_down",
          retryable: true,
        });
      }
      expect(log.filter(({ level }) => level === "error")).toEqual([]);
    },
  );

  it("is refused, and is logged as no error", async () => {
    const { clock, engine, log } = world();
    const line = carrier({ send: () => new Promise(() => {}) });
    const one = engine(memory(), { transports: [line] });
    await one.start();
    const { secret } = await one.apiKeys.create({ name: "test" });
    await one.messages.send(hello);
    await clock.settle();
    const stop = one.stop({ deadlineMs: 3_000 });
    const path = "/v1/messages";
    const request = { method: "POST", path, key: secret, body: hello };
    const answers = [await call(one.api, request)];
    await clock.advance(3_000);
    await stop;
    answers.push(await call(one.api, request));
    for (const answer of answers) {
      expect(jsonOf(answer)).toMatchObject({ status: 503, code: "shutting_down", retryable: true });
    }
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
    expect(log.filter(({ facts }) => "request_id" in facts)).toMatchObject([
      { level: "debug", facts: { path } },
      { level: "debug", facts: { path } },
    ]);
  });
});

describe("a callback that a transport parses when the engine stops", () => {
  it("is refused at the deadline, so that the carrier repeats it", async () => {
    const { clock, engine, log } = world();
    const line = over(carrier(), { parseCallback: () => new Promise<never>(() => {}) });
    const one = engine(memory(), { transports: [line] });
    await one.start();
    const path = "/v1/transports/sandbox/callbacks";
    const answered = call(one.api, { method: "POST", path, body: {} });
    await clock.settle();
    const isOver = stopping(one);
    await clock.advance(3_000);
    expect([isOver(), clock.nextWakeAt]).toEqual([true, undefined]);
    expect(jsonOf(await answered)).toMatchObject({ status: 503, code: "shutting_down" });
    expect(log.filter(({ facts }) => !("request_id" in facts))).toEqual([]);
  });
});

describe("a handler of events that runs when the engine stops", () => {
  it.each(["call", "job"])("may call the engine, after the commit of a %s", async (cause) => {
    const { clock, engine, log } = world();
    const one = engine(memory());
    const gate = held<void>();
    let count = 0;
    one.on(cause === "call" ? "contact.created" : "message.updated", async () => {
      await gate.promise;
      count += (await one.contacts.list()).data.length;
    });
    await one.start();
    await one.messages.send(hello);
    await clock.settle();
    const isOver = stopping(one);
    await clock.advance(1_000);
    expect(isOver()).toBe(false);
    gate.answer();
    await clock.settle();
    expect(isOver()).toBe(true);
    expect(count).toBeGreaterThan(0);
    expect(log).toEqual([]);
  });

  it("may wait for the stop, which does not wait for it", async () => {
    const { clock, engine, log } = world();
    const one = engine(memory());
    let count = 0;
    one.on("contact.created", async () => {
      await one.stop();
      count++;
    });
    await one.start();
    const created = [hello.to, "+15005550002"].map((phone) => one.contacts.create({ phone }));
    await Promise.all(created);
    await clock.settle();
    expect([count, clock.nextWakeAt]).toEqual([2, undefined]);
    expect(log).toEqual([]);
  });

  it("delays the stop only until its deadline", async () => {
    const { clock, engine } = world();
    const one = engine(memory());
    one.on("contact.created", () => new Promise(() => {}));
    await one.contacts.create({ phone: hello.to });
    const isOver = stopping(one);
    await clock.advance(3_000);
    expect([isOver(), clock.nextWakeAt]).toEqual([true, undefined]);
  });
});

describe("an engine whose storage cannot be watched", () => {
  it("reports the error, leaves nothing running, and can start later", async () => {
    const { clock, engine } = world();
    const storage = memory();
    let deaf = true;
    const flaky = over(storage, {
      watch(listener) {
        if (deaf) throw new Error("no more listeners");
        return storage.watch?.(listener) ?? (() => {});
      },
    });
    const line = carrier();
    const one = engine(flaky, { transports: [line] });
    await expect(one.start()).rejects.toThrow("no more listeners");
    expect(line.starts).toBe(line.stops);
    expect(clock.nextWakeAt).toBeUndefined();
    deaf = false;
    await one.start();
    await one.messages.send(hello);
    await clock.settle();
    expect(line.calls).toHaveLength(1);
  });
});

describe("an engine that cannot take its lock", () => {
  it("reports the error, leaves no transport started, and can start later", async () => {
    const { clock, engine } = world();
    const storage = memory();
    let isFull = true;
    const flaky = over(storage, {
      engineLocks: {
        graceMs: 0,
        async take() {
          if (isFull) throw new Error("no more locks");
          return storage.engineLocks?.take();
        },
        findFree: async (ids) => storage.engineLocks?.findFree(ids) ?? [],
      },
    });
    const line = carrier();
    const one = engine(flaky, { transports: [line] });
    await expect(one.start()).rejects.toThrow("no more locks");
    expect(line.starts).toBe(line.stops);
    isFull = false;
    await one.start();
    await one.messages.send(hello);
    await clock.settle();
    expect(line.calls).toHaveLength(1);
  });
});
