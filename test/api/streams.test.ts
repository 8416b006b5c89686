import { describe, expect, it } from "vitest";
import type { AccountHandle } from "../../src/host/handles.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { call } from "./call.ts";
import { over } from "../support/over.ts";
import { storages } from "../support/storages.ts";
import { stopped, world } from "../support/world.ts";

const from = "+15005550001";

/** A client's event stream: its events, and whether it has ended. */
interface Followed {
  readonly told: string[];
  readonly isOver: () => boolean;
}

async function follow(engine: MessagingEngine, key: string): Promise<Followed> {
  const { status, body } = await call(engine.api, { path: "/v1/events/stream", key });
  if (status !== 200 || body === null || typeof body === "string" || body instanceof Uint8Array) {
    throw new Error(`no stream: ${status}`);
  }
  const told: string[] = [];
  let isOver = false;
  void (async () => {
    for await (const chunk of body) told.push(chunk);
    isOver = true;
  })();
  return { told, isOver: () => isOver };
}

async function tenant(
  engine: MessagingEngine,
): Promise<{ readonly account: AccountHandle; readonly id: string; readonly key: string }> {
  const { account, key } = await engine.accounts.create({ name: "test" });
  return { account: engine.account(account.id), id: key.id, key: key.secret ?? "" };
}

describe.each(storages)("an event stream on $name", ({ open }) => {
  it("ends when its key is revoked, without later events", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { account, id, key } = await tenant(one);
    const stream = await follow(one, key);
    await account.sandbox.inbound({ from, body: "before" });
    await clock.settle();
    expect(stream.told.join("")).toContain("before");
    await account.apiKeys.revoke(id);
    await account.sandbox.inbound({ from, body: "private" });
    await clock.settle();
    expect(stream.isOver()).toBe(true);
    expect(stream.told.join("")).not.toContain("private");
    // The engine was never started, so it looks for due work for some seconds.
    await clock.advance(10_000);
    expect(clock.nextWakeAt).toBeUndefined();
  });

  it("ends within 15 seconds when another process revokes its key, and sends nothing after one second", async () => {
    const { clock, engine } = world();
    const ground = open();
    const [one, other] = [
      engine(over(ground.connect(), { watch: () => () => {} })),
      engine(ground.connect()),
    ];
    const { account, id, key } = await tenant(one);
    const stream = await follow(one, key);
    await clock.settle();
    await other.account(account.scope.account_id).apiKeys.revoke(id);
    await clock.advance(1_000);
    await account.sandbox.inbound({ from, body: "private" });
    await clock.advance(15_000);
    expect(stream.isOver()).toBe(true);
    expect(stream.told.join("")).not.toContain("private");
  });

  it("ends when its key expires", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { account } = await tenant(one);
    const expires_at = new Date(clock.now() + 60_000).toISOString();
    const { secret } = await account.apiKeys.create({ name: "short", expires_at });
    const stream = await follow(one, secret ?? "");
    await clock.advance(59_999);
    await account.sandbox.inbound({ from, body: "before" });
    await clock.settle();
    await clock.advance(1);
    await account.sandbox.inbound({ from, body: "private" });
    await clock.advance(15_000);
    expect(stream.isOver()).toBe(true);
    expect(stream.told.join("")).toContain("before");
    expect(stream.told.join("")).not.toContain("private");
  });

  it("ends when its rotated secret's grace time is over; the new secret's stream continues", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { account, id, key } = await tenant(one);
    const stream = await follow(one, key);
    const { secret } = await account.apiKeys.rotate(id, { grace_seconds: 60 });
    const next = await follow(one, secret ?? "");
    await clock.advance(59_000);
    expect(stream.isOver()).toBe(false);
    await clock.advance(16_000);
    expect([stream.isOver(), next.isOver()]).toEqual([true, false]);
  });

  it("gets another process's events at once, even if its engine is not started", async () => {
    const { clock, engine } = world();
    const ground = open();
    const storage = ground.connect();
    let tell = (): void => {};
    const telling = over(storage, {
      watch(listener) {
        tell = listener;
        return () => {};
      },
    });
    const [one, other] = [engine(telling), engine(ground.connect())];
    const { account, key } = await tenant(one);
    const stream = await follow(one, key);
    await clock.settle();
    await other.account(account.scope.account_id).sandbox.inbound({ from, body: "Hello" });
    tell();
    await clock.settle();
    expect(stream.told.join("")).toContain("Hello");
  });

  it.each([
    ["started", true],
    ["not started", false],
  ])("ends cleanly when its engine stops, while waiting or reading (%s)", async (_, starts) => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    if (starts) await one.start();
    const { account, key } = await tenant(one);
    const waiting = await follow(one, key);
    await clock.settle();
    await account.sandbox.inbound({ from, body: "Hello" });
    const reading = await follow(one, key);
    await stopped(one, clock);
    await clock.settle();
    expect([waiting.isOver(), reading.isOver()]).toEqual([true, true]);
    expect(clock.nextWakeAt).toBeUndefined();
  });

  it("ends cleanly when its storage is closed", async () => {
    const { clock, engine } = world();
    const storage = open().connect();
    let slow = false;
    const reader = over(storage.reader, {
      async range(range) {
        if (slow) await clock.sleep(1_000);
        return storage.reader.range(range);
      },
    });
    const one = engine(over(storage, { reader }));
    const { account, key } = await tenant(one);
    const stream = await follow(one, key);
    await clock.settle();
    slow = true;
    await account.sandbox.inbound({ from, body: "Hello" });
    await clock.settle();
    await one.stop();
    await clock.advance(5_000);
    expect(stream.isOver()).toBe(true);
  });
});
