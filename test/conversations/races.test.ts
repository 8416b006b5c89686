import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unscopedReads } from "../../src/store/reads/reads.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { cases, isLong } from "../support/runs.ts";
import { storages } from "../support/storage/storages.ts";
import {
  checkRows,
  conversationCommands,
  lobby,
  people,
  type World,
} from "./concurrent-changes.ts";
import { reopenMs } from "./model.ts";

const line = () => carrier({ channels: ["sms", "mms", "webchat"] });

/** Files make each step slow. Memory and PostgreSQL show what concurrent commits do. */
const grounds = cases(storages, ({ name }) => name !== "SQLite");

describe.each(grounds)("conversations on $name", ({ name, open }) => {
  it("end up as after some sequential order of concurrent changes by two engines", async () => {
    const numRuns = isLong
      ? { memory: 150, SQLite: 30, PostgreSQL: 6 }[name]
      : name === "memory"
        ? 3
        : 1;
    const { clock, engine } = world();
    const ground = open();
    const lines = [line(), line()] as const;
    const [port, other] = [ground.connect(), ground.connect()];
    const options = { reopenHours: reopenMs / 3_600_000 };
    const one = engine(port, { ...options, transports: [lines[0]] });
    const two = engine(other, { ...options, transports: [lines[1]] });
    await one.start();
    await two.start();
    await fc.assert(
      fc.asyncProperty(conversationCommands, async (commands) => {
        const { account } = await one.accounts.create({ name: "one" });
        const accounts = [one.account(account.id), two.account(account.id)] as const;
        // The webchat of a carrier has the same conversations as the engine's own.
        await accounts[0].senders.create({
          address: lobby,
          channels: ["webchat"],
          transport: "sandbox",
        });
        const contacts: (string | undefined)[] = [];
        const { id: agent } = await accounts[0].agents.create({
          name: "Ada",
          channels: ["sms"],
          enabled: false,
        });
        const real: World = {
          accounts,
          lines,
          clock,
          agent,
          storage: port,
          reads: () => unscopedReads(port.reader).in(accounts[0].scope),
          contacts,
          count: 0,
        };
        await fc.asyncModelRun(() => ({ model: { model: people.map(() => []) }, real }), commands);
      }),
      { numRuns },
    );
  });
});

describe.each(storages)("a conversation on $name", ({ open }) => {
  const count = isLong ? 200 : 80;

  it("is created once, without gaps, if many messages from a new number arrive at once", async () => {
    const { clock, engine } = world();
    const ground = open();
    const [port, other] = [ground.connect(), ground.connect()];
    const lines = [line(), line()] as const;
    const engines = [
      engine(port, { transports: [lines[0]] }),
      engine(other, { transports: [lines[1]] }),
    ] as const;
    for (const each of engines) await each.start();
    const { id } = await engines[0].account().get();
    const inbound = {
      channel: "sms",
      from: "+15005551001",
      to: "+15005559999",
      media: [],
      at: 0,
    } as const;
    const coming = Array.from({ length: count }, (_, i) => {
      const sink = (i % 2 === 0 ? lines[0] : lines[1]).sink();
      return sink.inbound({ ...inbound, provider_message_id: `in ${i}`, body: `${i}` }, id);
    });
    let over = false;
    const all = Promise.all(coming).finally(() => (over = true));
    await clock.advanceUntil(() => over, 60_000);
    await all;
    const { data } = await engines[0].conversations.list();
    expect(data).toMatchObject([
      { message_count: count, unread_count: count, status: "open", handler: "none" },
    ]);
    await checkRows(unscopedReads(port.reader).in(engines[0].account().scope));
  });
});
