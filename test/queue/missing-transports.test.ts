/** Messages for transports that only some engines have, or none. */
import { describe, expect, it } from "vitest";
import type { MessagingEngine } from "../../src/engine.ts";
import { accepted, carrier } from "../support/engines/carrier.ts";
import { fastForward } from "../support/engines/fast-forward.ts";
import { world } from "../support/engines/world.ts";
import { lightStorages } from "../support/storage/storages.ts";

const hello = { to: "+15005550001", body: "Hello" };

async function outcome(engine: MessagingEngine, id: string): Promise<unknown> {
  const { status, error } = await engine.messages.get(id);
  return error === null ? status : [status, error.code];
}

describe.each(lightStorages)("calls of a carrier on $name", ({ open }) => {
  /** Longer than all retries. */
  const longMs = 3_600_000;

  it("for a transport that this engine lacks wait for one that has it, without using an attempt", async () => {
    const { clock, engine, started, log } = world();
    const ground = open();
    const storage = ground.connect();
    const bare = engine(storage, { transports: [carrier({ name: "other" })] });
    const { id } = await engine(ground.connect()).messages.send(hello);
    await bare.start();
    await fastForward(clock, storage, longMs);
    expect(await outcome(bare, id)).toBe("queued");
    const line = carrier();
    const able = await started(ground.connect(), { transports: [line] });
    await clock.advance(60_000);
    expect(await outcome(able, id)).toBe("sent");
    expect(line.calls.map(({ attempt }) => attempt.number)).toEqual([1]);
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("for a transport that this engine lacks are released at once to an engine that has it", async () => {
    const { clock, engine } = world();
    const ground = open();
    const bare = engine(ground.connect(), { transports: [carrier({ name: "other" })] });
    const line = carrier();
    const able = engine(ground.connect(), { transports: [line] });
    await bare.start();
    await able.start();
    const begun = clock.now();
    const sender = engine(ground.connect());
    for (let n = 0; n < 10; n++) await sender.messages.send({ ...hello, to: `+1500555100${n}` });
    await clock.advance(60_000);
    expect(line.calls).toHaveLength(10);
    expect(Math.max(...line.calls.map(({ at }) => at - begun))).toBeLessThanOrEqual(5_000);
  });

  it("for a transport that this engine lacks are not put off when it releases their messages", async () => {
    const { clock, engine } = world();
    const ground = open();
    const bare = engine(ground.connect(), { transports: [carrier({ name: "other" })] });
    const line = carrier();
    const able = engine(ground.connect(), { transports: [line] });
    const send_at = new Date(clock.now() + 60_000).toISOString();
    const { id } = await able.messages.send({ ...hello, send_at });
    await bare.start();
    await clock.advance(60_000);
    expect(await outcome(bare, id)).toBe("queued");
    await able.start();
    await clock.advance(5_000);
    expect(await outcome(able, id)).toBe("sent");
  });

  it("for a transport that this engine lacks are not put off while a busy engine works on them", async () => {
    const { clock, engine } = world();
    const ground = open();
    const line = carrier({
      send: async (_, attempt) => {
        await clock.sleep(1_000);
        return accepted(attempt);
      },
    });
    const busy = engine(ground.connect(), { transports: [line], concurrency: 8 });
    const bare = engine(ground.connect(), { transports: [carrier({ name: "other" })] });
    await busy.start();
    await bare.start();
    for (let n = 0; n < 100; n++) {
      await busy.messages.send({ ...hello, to: `+1500555${1_000 + n}` });
    }
    // Six calls at a time, of one second each.
    await clock.advance(20_000);
    expect(line.calls).toHaveLength(100);
  });

  it("for a transport that this engine lacks do not delay its own calls while they are left", async () => {
    const { clock, engine } = world();
    const ground = open();
    const line = carrier({
      send: async (_, attempt) => {
        await clock.sleep(20_000);
        return accepted(attempt);
      },
    });
    const own = carrier({ name: "other" });
    const busy = engine(ground.connect(), { transports: [line], concurrency: 8 });
    const bare = engine(ground.connect(), { transports: [own], concurrency: 8 });
    const from = "+15005550909";
    await bare.senders.create({ address: from, channels: ["sms"], transport: "other" });
    for (let n = 0; n < 10; n++) {
      const { account } = await busy.accounts.create({ name: `account ${n}` });
      for (let i = 0; i < 4; i++) {
        await busy.account(account.id).messages.send({ ...hello, to: `+1500555100${i}` });
      }
    }
    await busy.start();
    await clock.advance(7_000);
    await bare.messages.send({ ...hello, from });
    const begun = clock.now();
    await bare.start();
    await clock.advance(6_000);
    expect(own.calls.map(({ at }) => at - begun < 1_000)).toEqual([true]);
  });

  it("for one conversation go at once from engine to engine, each with the transport of a sender", async () => {
    const { clock, engine } = world();
    const ground = open();
    const lines = [carrier(), carrier({ name: "other" })];
    const engines = lines.map((line) => engine(ground.connect(), { transports: [line] }));
    const sender = engine(ground.connect(), { transports: lines });
    const from = "+15005550909";
    await sender.senders.create({ address: from, channels: ["sms"], transport: "other" });
    const { from: first } = await sender.messages.send(hello);
    await sender.messages.send({ ...hello, from });
    await sender.messages.send({ ...hello, from: first });
    const begun = clock.now();
    for (const each of engines) await each.start();
    await clock.advance(60_000);
    const calls = lines.flatMap((line) => line.calls).map(({ at }) => at - begun);
    expect(calls).toHaveLength(3);
    expect(Math.max(...calls)).toBeLessThanOrEqual(5_000);
  });

  it("for a throttled sender go over the transport of a route on an engine of its own", async () => {
    const { clock, engine } = world();
    const ground = open();
    const lines = [carrier(), carrier({ name: "other" })];
    const engines = lines.map((line) => engine(ground.connect(), { transports: [line] }));
    const from = "+15005550909";
    const routes = [{ transports: ["other"] }];
    const sender = engine(ground.connect(), { transports: lines, routes });
    const throttled = { transport: "sandbox", messages_per_second: 1 };
    await sender.senders.create({ address: from, channels: ["sms"], ...throttled });
    for (let n = 0; n < 3; n++) {
      await sender.messages.send({ to: `+1500555100${n}`, body: "Hello", from });
    }
    for (const each of engines) await each.start();
    await clock.advance(60_000);
    expect(lines.map(({ calls }) => calls.length)).toEqual([0, 3]);
  });

  it("for a transport that no engine has end with the message's ttl", async () => {
    const { clock, engine, started } = world();
    const ground = open();
    const able = engine(ground.connect());
    const to = "+15005550001";
    const brief = await able.messages.send({ to, body: "brief", ttl_seconds: 20 });
    const patient = await able.messages.send({ to, body: "patient", ttl_seconds: 600 });
    const storage = ground.connect();
    const bare = await started(storage, { transports: [carrier({ name: "other" })] });
    await clock.advance(40_000);
    expect([await outcome(bare, brief.id), await outcome(bare, patient.id)]).toEqual([
      ["expired", "ttl_elapsed"],
      "queued",
    ]);
    await fastForward(clock, storage, 600_000);
    expect(await outcome(bare, patient.id)).toEqual(["expired", "ttl_elapsed"]);
    const { data } = await bare.messages.timeline(patient.id);
    expect(data.filter(({ type }) => type === "attempt")).toEqual([]);
  });
});
