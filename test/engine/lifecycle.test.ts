import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import { accepted, busy, carrier, held } from "../support/engines/carrier.ts";
import { stopped, world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { lightStorages } from "../support/storage/storages.ts";
import { thrownBy } from "../support/thrown-by.ts";

const hello = { to: "+15005550001", body: "Hello" };

describe.each(lightStorages)("the lifecycle of an engine on $name", ({ open }) => {
  it("accepts messages before its start and leaves sending to a started engine", async () => {
    const { clock, engine } = world();
    const ground = open();
    const line = carrier();
    const web = engine(ground.connect(), { transports: [carrier()] });
    const { id, status } = await web.messages.send(hello);
    await clock.advance(60_000);
    expect([status, (await web.messages.get(id)).status]).toEqual(["queued", "queued"]);

    const worker = engine(ground.connect(), { transports: [line] });
    await worker.start();
    await clock.settle();
    expect(line.calls.map(({ message }) => message.message_id)).toEqual([id]);
    expect((await web.messages.get(id)).status).toBe("sent");
  });

  it("dispatches messages of another engine by the next poll", async () => {
    const { clock, engine } = world();
    const ground = open();
    const line = carrier();
    await engine(ground.connect(), { transports: [line] }).start();
    await clock.advance(1_234);
    await engine(ground.connect()).messages.send(hello);
    await clock.advance(5_000);
    expect(line.calls).toHaveLength(1);
  });

  it("starts once and stops once, also with repeated calls", async () => {
    const { clock, engine } = world();
    const line = carrier();
    const one = engine(open().connect(), { transports: [line] });
    await Promise.all([one.start(), one.start()]);
    await one.start();
    expect(line.starts).toBe(1);
    await one.messages.send(hello);
    await clock.settle();
    expect(line.calls).toHaveLength(1);
    const stops = [one.stop(), one.stop()];
    expect(stops[0]).toBe(stops[1]);
    await Promise.all([...stops, one.stop()]);
    expect(line.stops).toBe(1);
  });

  it("stops cleanly during its start", async () => {
    const { engine } = world();
    const line = carrier();
    const one = engine(open().connect(), { transports: [line] });
    const starting = one.start();
    await one.stop();
    await starting;
    expect([line.starts, line.stops]).toEqual([1, 1]);
  });

  it("can stop without a start, and rejects a later start or consumer", async () => {
    const { engine } = world();
    const line = carrier();
    const one = engine(open().connect(), { transports: [line] });
    await one.stop();
    await expect(one.start()).rejects.toMatchObject({ code: "shutting_down" });
    const consuming = thrownBy(() => one.consume("late", ["message.sent"], () => {}));
    expect(consuming).toMatchObject({ code: "shutting_down", retryable: false });
    expect([line.starts, line.stops]).toEqual([0, 0]);
  });

  it.each(["used", "never used"])(
    "rejects commands and reads once it is stopped, %s before",
    async (before) => {
      const { engine } = world();
      const one = engine(open().connect());
      if (before === "used") await one.messages.send(hello);
      await one.stop();
      const shuttingDown = { code: "shutting_down", status: 503, retryable: false };
      await expect(one.messages.send(hello)).rejects.toMatchObject(shuttingDown);
      await expect(
        one.messages.batch({ messages: [hello] }, { idempotencyKey: "b" }),
      ).rejects.toMatchObject(shuttingDown);
      await expect(one.messages.list()).rejects.toMatchObject(shuttingDown);
    },
  );

  it("answers calls that were made before its stop", async () => {
    const { engine } = world();
    const ground = open();
    const one = engine(ground.connect());
    await one.messages.list();
    const asked = Array.from({ length: 100 }, () => one.messages.send(hello));
    await one.stop();
    const ids = new Set((await Promise.all(asked)).map(({ id }) => id));
    const { data } = await engine(ground.connect()).messages.list({ limit: 100 });
    expect(new Set(data.map(({ id }) => id))).toEqual(ids);
  });

  it("waits for a carrier call in progress and records its answer", async () => {
    const { clock, engine } = world();
    const ground = open();
    const answer = held<void>();
    const line = carrier({ send: (_, attempt) => answer.promise.then(() => accepted(attempt)) });
    const one = engine(ground.connect(), { transports: [line] });
    await one.start();
    const { id } = await one.messages.send(hello);
    const { id: next } = await one.messages.send(hello);
    await clock.settle();
    let over = false;
    const stop = one.stop({ deadlineMs: 10_000 }).then(() => {
      over = true;
    });
    await clock.advance(9_000);
    expect(over).toBe(false);
    answer.answer();
    await clock.settle();
    await stop;
    const other = engine(ground.connect());
    expect((await other.messages.get(id)).status).toBe("sent");
    expect((await other.messages.get(next)).status).toBe("queued");
    expect(line.calls).toHaveLength(1);
  });

  it.each([
    ["obeys its signal", true],
    ["ignores it", false],
  ])(
    "stops at its deadline if the carrier %s, and the call is ambiguous for the next engine",
    async (_, heeds) => {
      const { clock, engine } = world();
      const ground = open();
      const line = carrier({
        send: (_message, { signal }) =>
          new Promise((_resolve, reject) => {
            if (heeds) signal.addEventListener("abort", () => reject(new Error("aborted")));
          }),
      });
      const one = engine(ground.connect(), { transports: [line] });
      await one.start();
      const { id } = await one.messages.send(hello);
      await clock.settle();
      let over = false;
      const stop = one.stop({ deadlineMs: 3_000 }).then(() => {
        over = true;
      });
      await clock.advance(2_999);
      expect(over).toBe(false);
      await clock.advance(1);
      await clock.settle();
      expect(over).toBe(true);
      await stop;

      const second = carrier();
      const two = engine(ground.connect(), { transports: [second] });
      await two.start();
      await clock.advance(120_000);
      expect((await two.messages.get(id)).status).toBe("ambiguous");
      expect(second.calls).toEqual([]);
    },
  );

  it("is stopped at the end of an `await using` block", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    {
      await using scoped = one;
      await scoped.messages.send(hello);
    }
    await expect(one.messages.send(hello)).rejects.toMatchObject({ code: "shutting_down" });
  });

  it("does nothing before its first call: it opens no storage and reads no clock or randomness", () => {
    const touched: string[] = [];
    const wary = <T extends object>(name: string, target: T): T =>
      new Proxy(target, {
        get(object, property) {
          const value: unknown = Reflect.get(object, property);
          if (typeof value !== "function") return value;
          return (...given: unknown[]): unknown => {
            touched.push(`${name}.${String(property)}`);
            return Reflect.apply(value, object, given) as unknown;
          };
        },
      });
    const { engine, clock } = world();
    engine(wary("storage", open().connect()), {
      transports: [wary("transport", carrier())],
      clock: wary("clock", {
        now: () => clock.now(),
        monotonic: () => clock.monotonic(),
        sleep: (ms, signal) => clock.sleep(ms, signal),
      }),
      random: wary("random", { bytes: (count) => new Uint8Array(count) }),
    });
    expect(touched).toEqual([]);
  });

  it("is isolated from another engine in the same process with another storage", async () => {
    const { clock, engine } = world();
    const [a, b] = [carrier(), carrier()];
    const one = engine(open().connect(), { transports: [a] });
    const two = engine(open().connect(), { transports: [b] });
    const heard: string[] = [];
    two.on("message.updated", ({ data }) => void heard.push(data.message_id));
    await Promise.all([one.start(), two.start()]);
    const sent = await one.messages.send(hello, { idempotencyKey: "same" });
    await clock.settle();
    expect([a.calls.length, b.calls.length, heard]).toEqual([1, 0, []]);
    await expect(two.messages.get(sent.id)).rejects.toMatchObject({ code: "not_found" });
    await stopped(one, clock);
    expect((await two.messages.send(hello, { idempotencyKey: "same" })).id).not.toBe(sent.id);
    await clock.settle();
    expect(b.calls).toHaveLength(1);
  });

  it("leaves no listener on its storage", async () => {
    const { engine } = world();
    const storage = open().connect();
    let watching = 0;
    const watched = over(storage, {
      watch(listener) {
        watching++;
        const stop = storage.watch?.(listener);
        return () => {
          watching--;
          stop?.();
        };
      },
    });
    const one = engine(watched);
    await one.start();
    expect(watching).toBe(1);
    await one.stop();
    expect(watching).toBe(0);
  });

  it("reports a failed start, stops what it had started, and can start again", async () => {
    const { clock, engine } = world();
    const first = carrier();
    const second = carrier({ name: "second" });
    let down = true;
    const flaky = over(second, {
      async start(context) {
        if (down) throw new Error("no route to the carrier");
        await second.start?.(context);
      },
    });
    const one = engine(open().connect(), { transports: [first, flaky] });
    await expect(one.start()).rejects.toThrow("no route to the carrier");
    expect([first.starts, first.stops]).toEqual([1, 1]);
    down = false;
    await one.start();
    expect([first.starts, second.starts]).toEqual([2, 1]);
    await one.messages.send(hello);
    await clock.settle();
    expect(first.calls).toHaveLength(1);
  });

  it("fails to start if a transport times out, and stops that transport once it has started", async () => {
    const { clock, engine } = world();
    const first = carrier();
    const second = carrier({ name: "second" });
    let arrive = (): void => {};
    const arrival = new Promise<void>((resolve) => (arrive = resolve));
    const log: string[] = [];
    const slow = over(second, {
      async start(context) {
        await arrival;
        log.push("started");
        await second.start?.(context);
      },
      async stop() {
        log.push("stopped");
        await second.stop?.();
      },
    });
    const one = engine(open().connect(), { transports: [first, slow] });
    const failure = one.start().catch((error: unknown) => error);
    await clock.advance(40_000);
    expect(await failure).toMatchObject({ code: "internal", retryable: true });
    expect([first.starts, first.stops, log]).toEqual([1, 1, []]);
    // A second try fails, too, and leaves nothing that would start later.
    const vain = one.start().catch((error: unknown) => error);
    await clock.advance(40_000);
    expect(await vain).toMatchObject({ code: "internal" });
    const again = one.start();
    await clock.advance(1_000);
    arrive();
    await again;
    expect(log).toEqual(["started", "stopped", "started"]);
    await one.stop();
    expect(log.at(-1)).toBe("stopped");
  });

  it("stops the other transports and the storage if one transport fails to stop", async () => {
    const { engine, log } = world();
    const first = carrier();
    const second = over(carrier({ name: "second" }), {
      stop: () => Promise.reject(new Error("stuck")),
    });
    const one = engine(open().connect(), { transports: [first, second] });
    await one.start();
    await one.stop();
    expect(first.stops).toBe(1);
    expect(log).toMatchObject([{ level: "warn", facts: { transport: "second" } }]);
  });

  it("does not retry while it drains: waiting retries are left to the next engine", async () => {
    const { clock, engine } = world();
    const ground = open();
    const line = carrier({ send: () => busy(60_000) });
    const one = engine(ground.connect(), { transports: [line] });
    await one.start();
    await one.messages.send(hello);
    await clock.settle();
    await one.stop();
    await clock.advance(120_000);
    expect(line.calls).toHaveLength(1);
    const next = carrier();
    await engine(ground.connect(), { transports: [next] }).start();
    await clock.settle();
    expect(next.calls).toHaveLength(1);
  });
});

describe("a storage that cannot be opened", () => {
  it("causes an error at each call until it can be opened", async () => {
    const { engine } = world();
    const folder = join(mkdtempSync(join(tmpdir(), "tidings-")), "not yet");
    onTestFinished(() => rmSync(join(folder, ".."), { recursive: true }));
    const one = engine(sqlite({ file: join(folder, "test.db") }));
    for (const ask of [
      () => one.messages.send(hello),
      () => one.messages.list(),
      () => one.start(),
    ]) {
      const error = await ask().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(TidingsError);
      expect(error).toMatchObject({ code: "storage_unavailable", status: 503, retryable: false });
    }
    mkdirSync(folder);
    await one.start();
    expect(await one.messages.send(hello)).toMatchObject({ status: "queued" });
  });

  it("is not opened by a call after the stop", async () => {
    const { engine } = world();
    const folder = mkdtempSync(join(tmpdir(), "tidings-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "test.db");
    const one = engine(sqlite({ file }));
    await one.stop();
    await expect(one.messages.send(hello)).rejects.toMatchObject({ code: "shutting_down" });
    expect(existsSync(file)).toBe(false);
  });

  it("is opened again by the next call after a failure", async () => {
    const storage = memory();
    let fails = 2;
    const flaky = over(storage, {
      open: (schema) =>
        fails-- > 0
          ? Promise.reject(new TidingsError("storage_unavailable", "The disk is away."))
          : storage.open(schema),
    });
    const one = world().engine(flaky);
    const both = await Promise.allSettled([one.messages.send(hello), one.messages.send(hello)]);
    expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(one.messages.send(hello)).rejects.toMatchObject({ code: "storage_unavailable" });
    await expect(one.messages.send(hello)).resolves.toMatchObject({ status: "queued" });
  });
});
