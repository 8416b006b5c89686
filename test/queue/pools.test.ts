import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { defaultAccountId } from "../../src/accounts/prepare-storage.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import type { SendAnswer } from "../../src/ports/transport.ts";
import { accepted, carrier, held } from "../support/engines/carrier.ts";
import { stopped, world } from "../support/engines/world.ts";
import { longTest } from "../support/runs.ts";
import { beforeCommits, failingCommits } from "../support/storage/groups.ts";
import { lightStorages } from "../support/storage/storages.ts";

const hello = { to: "+15005550001", body: "Hello" };
const few = { concurrency: 64, laneConcurrency: 16 } as const;
const hangs = (): Promise<never> => new Promise(() => {});

/** Accounts that each send to one transport in more conversations than their lane takes. */
async function flood(engine: MessagingEngine, transport: string, accounts: number): Promise<void> {
  for (let n = 0; n < accounts; n++) {
    const { account } = await engine.accounts.create({ name: `${transport} ${n}` });
    const { senders, messages } = engine.account(account.id);
    await senders.create({
      address: `+1777000${1_000 + n}`,
      channels: ["sms"],
      transport,
      default: true,
    });
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        messages.send({ to: `+1500444${1_000 + i}`, body: "x" }),
      ),
    );
  }
}

describe.each(lightStorages)("a carrier that hangs, on $name", ({ open }) => {
  it("does not take the slots of other transports, even with many accounts", async () => {
    const { clock, started } = world();
    const hung = carrier({ name: "hung", send: hangs });
    const healthy = carrier();
    const one = await started(open().connect(), { transports: [hung, healthy], ...few });
    await flood(one, "hung", 5);
    await clock.advance(100);
    expect(hung.calls).toHaveLength(48);
    await one.messages.send(hello);
    const sent = clock.now();
    await clock.advance(1_000);
    expect(healthy.calls.map(({ at }) => at - sent)).toEqual([0]);
  });

  it("does not take the slots of internal jobs, even if every carrier hangs", async () => {
    const { clock, started } = world();
    const both = ["hung", "sandbox"].map((name) => carrier({ name, send: hangs }));
    const one = await started(open().connect(), { transports: both, ...few });
    await flood(one, "hung", 5);
    await flood(one, "sandbox", 2);
    await clock.advance(100);
    const { id } = await one.messages.send({
      ...hello,
      send_at: new Date(clock.now() + 1_000).toISOString(),
    });
    await clock.advance(1_000);
    expect((await one.messages.get(id)).status).toBe("queued");
  });

  it("gets its remaining conversations through the slow lane, so that new ones do not wait", async () => {
    const { clock, started } = world();
    const line = carrier({
      send: ({ body }, attempt) => (body === "stuck" ? hangs() : accepted(attempt)),
    });
    const one = await started(open().connect(), { transports: [line], laneConcurrency: 4 });
    for (let n = 0; n < 4; n++) {
      for (let i = 0; i < 3; i++) {
        await one.messages.send({ to: `+1500444${1_000 + n}`, body: "stuck" });
      }
    }
    await clock.advance(25_000);
    await one.messages.send(hello);
    const sent = clock.now();
    await clock.advance(1_000);
    expect(
      line.calls.filter(({ message }) => message.body === "Hello").map(({ at }) => at - sent),
    ).toEqual([0]);
  });
});

describe("a carrier's answers", () => {
  longTest("are recorded even if callers fill the storage's queue", async () => {
    const { clock, started, log } = world();
    const storage = memory();
    let gate: Promise<void> | undefined;
    const slow = beforeCommits(storage, async () => {
      await gate;
    });
    const [answer, opened] = [held<SendAnswer>(), held<void>()];
    const line = carrier({ send: () => answer.promise });
    const one = await started(slow, { transports: [line] });
    const { id, contact_id } = await one.messages.send(hello);
    await clock.settle();
    gate = opened.promise;
    let refused = 0;
    const callers = (count: number): Promise<unknown>[] =>
      Array.from({ length: count }, (_, n) =>
        one.contacts.update(contact_id, { name: `${n}` }).catch((error: unknown) => {
          if (error instanceof TidingsError && error.code === "overloaded") refused++;
        }),
      );
    // Some start at once; further ones fill the queue.
    const sent = callers(10_000);
    await clock.settle();
    sent.push(...callers(500));
    const attempt = line.attempt();
    const receipt = line.report("delivered");
    const { from: to } = await one.messages.get(id);
    const words = {
      channel: "sms",
      from: hello.to,
      to: to ?? "",
      body: "Hi",
      media: [],
      at: clock.now(),
    } as const;
    const inbound = line.sink().inbound({ ...words, provider_message_id: "in" }, defaultAccountId);
    answer.answer(accepted(attempt));
    await clock.settle();
    opened.answer();
    gate = undefined;
    await Promise.all([...sent, receipt, inbound]);
    await clock.advance(1_000);
    expect(refused).toBeGreaterThan(0);
    expect((await one.messages.get(id)).status).toBe("delivered");
    const texts = await one.messages.list({ contact_id, direction: "inbound" });
    expect(texts.data).toHaveLength(1);
    expect(log.filter(({ level }) => level === "error" || level === "warn")).toEqual([]);
  });

  it("do not delay a stop beyond its deadline", async () => {
    const { clock, started } = world();
    const storage = memory();
    let isDown = false;
    const failing = failingCommits(storage, () => isDown);
    const answer = held<SendAnswer>();
    const line = carrier({ send: () => answer.promise });
    const one = await started(failing, { transports: [line] });
    await one.messages.send(hello);
    await clock.settle();
    isDown = true;
    const attempt = line.attempt();
    answer.answer(accepted(attempt));
    await clock.settle();
    const begun = clock.now();
    await stopped(one, clock, 1_000);
    expect(clock.now() - begun).toBeLessThanOrEqual(1_100);
  });

  it("in an error are logged, without further properties of the error", async () => {
    const { clock, started, log } = world();
    const fails = (): never => {
      const config = { headers: { authorization: "Basic secret" }, data: "Body=secret" };
      throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED", config });
    };
    const line = carrier({ send: fails, lookup: fails });
    const one = await started(memory(), { transports: [line] });
    await one.messages.send(hello);
    await clock.advance(60_000);
    expect(line.lookups.length).toBeGreaterThan(0);
    const told = log.filter(({ level }) => level === "warn").map(({ facts }) => facts);
    expect(told.length).toBeGreaterThanOrEqual(2);
    for (const facts of told) {
      expect(facts).toMatchObject({
        err: { name: "Error", code: "ECONNREFUSED", message: "connect ECONNREFUSED" },
      });
    }
    expect(JSON.stringify(log.map(({ facts }) => facts))).not.toContain("secret");
  });
});

it("a failure to lease jobs is logged once per round", async () => {
  const storage = memory();
  const { clock, engine, log } = world();
  let isDown = false;
  const failing = failingCommits(storage, () => isDown);
  const one = engine(failing);
  for (let n = 0; n < 5; n++) await one.messages.send({ to: `+1500555000${n}`, body: "Hi" });
  await one.start();
  isDown = true;
  await clock.settle();
  // The messages' jobs and the reaper.
  expect(log).toMatchObject([{ level: "warn", facts: { jobs: 6 } }]);
});
