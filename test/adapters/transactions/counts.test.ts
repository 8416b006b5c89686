/** Counts of messages that transactions of the host application send. */
import type { PoolClient } from "pg";
import { describe, expect, it } from "vitest";
import type { MessagingEngine } from "../../../src/engine.ts";
import { carrier } from "../../support/engines/carrier.ts";
import { world } from "../../support/engines/world.ts";
import { longTest } from "../../support/runs.ts";
import { held } from "../../support/storage/real-time-storage.ts";
import { receivers } from "../../webhooks/receivers.ts";
import { hosts, type Host } from "./hosts.ts";

const dayMs = 24 * 3_600_000;
const anna = { to: "+15005550001", body: "Hello" };
const bert = { to: "+15005550002", body: "Hello" };

/** How many messages the account sent: by the counts of hours, and by those of days. */
async function sent(engine: MessagingEngine<object>): Promise<readonly number[]> {
  const [hours, days] = await Promise.all([
    engine.account().usageByHour(),
    engine.account().usage(),
  ]);
  const queued = days.data.filter(({ status }) => status === "queued");
  const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0);
  return [
    sum(hours.data.map(({ accepted }) => accepted)),
    sum(queued.map(({ messages }) => messages)),
  ];
}

describe.each(hosts)("counts on $name", ({ open }) => {
  it("have what committed transactions sent, and nothing of what was rolled back", async () => {
    const host = await open();
    const one = world().engine(host.connect());
    await one.messages.send(anna);
    for (const how of ["ROLLBACK", "COMMIT", "COMMIT"] as const) {
      const { tx, end } = await host.begin();
      await one.messages.send(anna, { tx });
      await host.run(tx, "SAVEPOINT mine");
      await one.messages.send(bert, { tx });
      await host.run(tx, "ROLLBACK TO SAVEPOINT mine");
      await one.messages.send(bert, { tx });
      await end(how);
      await one.messages.send(bert);
      if (how === "ROLLBACK") expect(await sent(one)).toEqual([2, 2]);
    }
    expect(await sent(one)).toEqual([8, 8]);
    const failed = one.transaction(async (tx) => {
      await one.messages.send(anna, { tx });
      throw new RangeError("no");
    });
    await expect(failed).rejects.toThrow(RangeError);
    await one.transaction((tx) => one.messages.send(anna, { tx }));
    expect(await sent(one)).toEqual([9, 9]);
  });

  longTest(
    "are forgotten as others are: those of hours after 92 days, those of days never",
    async () => {
      const host = await open();
      const { clock, engine } = world();
      const one = engine(host.connect());
      await one.transaction((tx) => one.messages.send(anna, { tx }));
      const at = new Date(clock.now()).toISOString();
      const day = at.slice(0, 10);
      await one.start();
      clock.step(93 * dayMs);
      // A removal every ten minutes.
      await clock.advance(3_600_000);
      expect((await one.account().usageByHour({ from: at, to: at })).data).toEqual([]);
      const { data } = await one.account().usage({ from: day, to: day });
      expect(data).toContainEqual({
        day,
        channel: "sms",
        status: "queued",
        messages: 1,
        segments: 1,
      });
    },
  );
});

describe("an open transaction on PostgreSQL that has sent a message", () => {
  const { open } = hosts.find(({ name }) => name === "PostgreSQL") ?? expect.fail("no PostgreSQL");

  it("delays nothing of other contacts: no send, hand-over, receipt, inbound message or delivery", async () => {
    const host = await open();
    const { clock, engine } = world();
    const line = carrier();
    const there = receivers(clock);
    const options = { transports: [line], http: { client: there.client } };
    const [one, other] = [engine(host.connect()), engine(host.connect(), options)];
    await other.start();
    await other.webhooks.create({ url: "https://hooks.example.com/in", events: ["message.sent"] });
    const { from } = await other.messages.send(anna);
    await clock.advance(1_000);
    await one.transaction(async (tx) => {
      await one.messages.send(anna, { tx });
      const { id } = await other.messages.send(bert);
      await clock.advance(1_000);
      const now = clock.now();
      for (const call of line.calls.keys()) await line.report("delivered", { call });
      const inbound = { provider_message_id: "in", channel: "sms", media: [], at: now } as const;
      await line.sink().inbound({ ...inbound, from: bert.to, to: from, body: "Hi" });
      await clock.advance(1_000);
      expect((await other.messages.get(id)).status).toBe("delivered");
      expect(there.seen).toHaveLength(2);
      expect(await sent(other)).toEqual([2, 2]);
    });
    expect(await sent(other)).toEqual([3, 3]);
  });

  it("delays no other transaction that sends to another contact", async () => {
    const host = await open();
    const { engine } = world();
    const [one, other] = [engine(host.connect()), engine(host.connect())];
    await Promise.all([one.messages.send(anna), one.messages.send(bert)]);
    await one.transaction(async (tx) => {
      await one.messages.send(anna, { tx });
      await other.transaction(async (others) => {
        await other.messages.send(bert, { tx: others });
        await one.messages.send(anna, { tx });
        await other.messages.send(bert, { tx: others });
      });
      expect(await sent(other)).toEqual([4, 4]);
    });
    expect(await sent(other)).toEqual([6, 6]);
  });
});

describe("a started engine on PostgreSQL", () => {
  const { open } = hosts.find(({ name }) => name === "PostgreSQL") ?? expect.fail("no PostgreSQL");

  /** The rows of a table, as the host application sees them. */
  async function rowsOf(host: Host, table: string): Promise<readonly object[]> {
    const { tx, end } = await host.begin();
    const { rows } = await held((tx as PoolClient).query<object>(`SELECT * FROM ${table}`));
    await end("COMMIT");
    return rows;
  }

  it("adds up the counts of transactions within ten minutes, although nobody reads them", async () => {
    const host = await open();
    const { clock, engine } = world();
    const one = engine(host.connect());
    for (let n = 0; n < 3; n++) {
      await one.transaction((tx) => one.messages.send(anna, { tx }));
    }
    expect(await rowsOf(host, "tidings_usage")).toEqual([]);
    expect(await rowsOf(host, "tidings_pending_counts")).toHaveLength(6);
    await one.start();
    await clock.advance(600_000);
    expect(await rowsOf(host, "tidings_pending_counts")).toEqual([]);
    expect(await rowsOf(host, "tidings_hourly_usage")).toMatchObject([{ accepted: "3" }]);
  });
});
