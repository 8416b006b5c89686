import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Policy } from "../../src/ports/policy.ts";
import { carrier, held } from "../support/engines/carrier.ts";
import { stopping, world } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { lightStorages } from "../support/storage/storages.ts";

const hello = { to: "+15005550001", body: "Hello" };

describe.each(lightStorages)("an engine on $name that stops during policies", ({ open }) => {
  const messages = Array.from({ length: 60 }, (_, i) => ({
    to: `+150055510${String(i).padStart(2, "0")}`,
    body: "Hello",
  }));
  const slow: Policy = {
    name: "slow",
    async evaluate() {
      await setImmediate();
      return { verdict: "allow" };
    },
  };
  it("commits the commands that were called before", async () => {
    const { engine, log } = world();
    const one = engine(open().connect(), { policies: [slow] });
    await one.messages.send(hello);
    const sent = messages.map((message) => outcome(one.messages.send(message)));
    await setImmediate();
    await one.stop();
    expect(new Set(await Promise.all(sent))).toEqual(new Set(["done"]));
    expect(log).toEqual([]);
  });

  it("commits the first commands of all", async () => {
    const { engine, log } = world();
    const one = engine(open().connect(), { policies: [slow] });
    const sent = one.messages.send(hello);
    const read = one.senders.list();
    await one.stop();
    expect((await sent).status).toBe("queued");
    expect((await read).data).not.toEqual([]);
    expect(log).toEqual([]);
  });

  it("lets policies read through the engine", async () => {
    const { engine, log } = world();
    const reads: Policy = {
      name: "reads",
      async evaluate({ message }, tx) {
        await setImmediate();
        // Inside a transaction, a read on its own would not see it.
        if (tx === undefined) await one.contacts.list({ phone: message.to });
        return { verdict: "allow" };
      },
    };
    const one = engine(open().connect(), { policies: [reads] });
    const sent = messages.map((message) => outcome(one.messages.send(message)));
    await one.stop();
    expect(new Set(await Promise.all(sent))).toEqual(new Set(["done"]));
    expect(log).toEqual([]);
  });

  it("refuses what an ended call has left running", async () => {
    const { engine } = world();
    const slow = held<undefined>();
    const left = held<undefined>();
    const leftovers: Promise<string>[] = [];
    const careless: Policy = {
      name: "careless",
      async evaluate({ message }) {
        if (message.body === "slow") await slow.promise;
        leftovers.push(outcome(left.promise.then(() => one.contacts.list())));
        return { verdict: "allow" };
      },
    };
    const one = engine(open().connect(), { policies: [careless] });
    await one.messages.send(hello);
    const sending = one.messages.send({ ...hello, body: "slow" });
    await setImmediate();
    const stopped = one.stop();
    left.answer(undefined);
    expect(await leftovers[0]).toBe("shutting_down");
    slow.answer(undefined);
    await Promise.all([stopped, sending]);
  });

  it("lets another engine complete a batch that it ends at its deadline", async () => {
    const { clock, engine, log } = world();
    const ground = open();
    let evaluations = 0;
    const hangs: Policy = {
      name: "hangs",
      evaluate: async () =>
        ++evaluations > 30 ? new Promise(() => {}) : { verdict: "allow" as const },
    };
    const one = engine(ground.connect(), { policies: [hangs] });
    const batch = one.messages.batch({ messages }, { idempotencyKey: "batch" });
    const ended = outcome(batch);
    while (evaluations <= 30) await setImmediate();
    const isOver = stopping(one);
    await clock.advance(2_999);
    expect(isOver()).toBe(false);
    await clock.advance(1);
    await clock.advanceUntil(isOver);
    expect(await ended).toBe("shutting_down");
    const two = engine(ground.connect(), { policies: [slow] });
    const { data } = await two.messages.batch({ messages }, { idempotencyKey: "batch" });
    expect(data.filter(({ ok }) => ok)).toHaveLength(messages.length);
    const { data: all } = await two.messages.list({ limit: 100 });
    expect(all).toHaveLength(messages.length);
    expect(log).toEqual([]);
  });

  it("refuses at its deadline the commands that still wait", async () => {
    const { clock, engine, log } = world();
    const never: Policy = { name: "never", evaluate: () => new Promise(() => {}) };
    const one = engine(open().connect(), { policies: [never] });
    await one.senders.list();
    // On PostgreSQL, each takes a connection. On SQLite, one waits for the other.
    const two = messages.slice(0, 2);
    const sent = two.map((message) => one.messages.send(message).catch((error: unknown) => error));
    await setImmediate();
    const isOver = stopping(one);
    await clock.advance(3_000);
    await clock.advanceUntil(isOver);
    for (const error of await Promise.all(sent)) {
      expect(error).toMatchObject({ code: "shutting_down", retryable: true });
      // The caller has opened none.
      expect(error).not.toMatchObject({ message: expect.stringContaining("transaction") });
    }
    expect([clock.nextWakeAt, log]).toEqual([undefined, []]);
  });

  it("hands over no message at its deadline, so that another engine sends it once", async () => {
    const { clock, started, log } = world();
    const ground = open();
    const line = carrier();
    let isSlow = false;
    const policies = ["a", "b", "c"].map((policy): Policy => ({
      name: policy,
      async evaluate() {
        if (isSlow) await clock.sleep(4_900);
        return { verdict: "allow" };
      },
    }));
    const one = await started(ground.connect(), { transports: [line], policies });
    const at = new Date(clock.now() + 1_000).toISOString();
    const { id } = await one.messages.send({ ...hello, send_at: at });
    isSlow = true;
    await clock.advance(2_000);
    const isOver = stopping(one);
    await clock.advance(2_999);
    expect(isOver()).toBe(false);
    await clock.advance(1);
    await clock.advanceUntil(isOver);
    expect(clock.now() - Date.parse(at)).toBeLessThan(4_100);
    isSlow = false;
    const two = await started(ground.connect(), { transports: [line], policies });
    await clock.advance(1_000);
    expect((await two.messages.get(id)).status).toBe("sent");
    expect(line.calls.map(({ attempt }) => attempt.number)).toEqual([1]);
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  });
});
