/** While a long list is accepted, commands of other callers go first. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { contacts, identityByAddress } from "../../src/contacts/rows.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { imported } from "../contacts/helpers.ts";
import { letWork } from "../support/engines/let-work.ts";
import { world } from "../support/engines/world.ts";
import { withGroups } from "../support/storage/groups.ts";
import { rowsOf } from "../support/storage/rows.ts";
import { embeddedStorages } from "../support/storage/storages.ts";

const to = (n: number): string => `+1500555${1_000 + n}`;
const person = "+15005559000";
const size = 100;

const lists = [
  {
    list: "a batch of messages",
    give: async ({ messages }: MessagingEngine): Promise<number> => {
      const drafts = Array.from({ length: size }, (_, n) => ({ to: to(n), body: "mailing" }));
      const { data } = await messages.batch({ messages: drafts });
      return data.filter(({ ok }) => ok).length;
    },
  },
  {
    list: "an import of contacts",
    give: async (engine: MessagingEngine): Promise<number> => {
      const rows = Array.from({ length: size }, (_, n) => ({ phone: to(n) }));
      const reports = await imported(engine.contacts, rows);
      return reports.filter(({ status }) => status === "created").length;
    },
  },
];

describe.each(embeddedStorages)("on $name", ({ open }) => {
  it.each(lists)("a message is accepted before the items of $list that wait", async ({ give }) => {
    const { clock, engine } = world();
    const spend = letWork(clock);
    const storage = open().connect();
    let onItem = (): void => {};
    /** Each command looks for its recipient, and takes a millisecond. */
    const timed: StoragePort = withGroups(storage, {
      read(lookups, group) {
        if (lookups.some(({ index }) => index === identityByAddress)) {
          spend(1);
          onItem();
        }
        return group.read(lookups);
      },
    });
    const one = engine(timed);
    await one.messages.send({ to: to(size), body: "The engine is open now." });
    const before = (await rowsOf(storage, contacts)).length;
    let known = 0;
    const arrived = Promise.withResolvers<void>();
    const send = async (): Promise<void> => {
      await setImmediate();
      await one.messages.send({ to: person, body: "Your code is 1234." });
      known = (await rowsOf(storage, contacts)).length - before;
      arrived.resolve();
    };
    onItem = () => {
      onItem = () => {};
      void send();
    };
    const giving = give(one);
    await arrived.promise;
    // The message's contact, and that of the item that ran when the message arrived.
    expect(known).toBe(2);
    expect(await giving).toBe(size);
  });
});

/** Counts how often other work of the process could run until a promise settles. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; turns++) await setImmediate();
  })();
  await work.finally(() => (isOver = true));
  await counting;
  return turns;
}

const wrong = Array.from({ length: 1_000 }, () => ({ to: "nobody", phone: "nobody", body: "" }));

it.each([
  ["a batch", ({ messages }: MessagingEngine) => messages.batch({ messages: wrong })],
  ["an import", ({ contacts }: MessagingEngine) => imported(contacts, wrong)],
])("while all items of %s are refused, other work runs in between", async (_, give) => {
  const one = world().engine(memory());
  await one.contacts.list();
  expect(await turnsDuring(give(one))).toBeGreaterThan(10);
});
