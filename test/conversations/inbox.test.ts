import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { ListConversations } from "../../src/conversations/input-types.ts";
import { inboxByLabel } from "../../src/conversations/rows.ts";
import type { Conversation } from "../../src/conversations/types.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { runsOn } from "../support/runs.ts";
import { lightStorages } from "../support/storage/storages.ts";
import { fill, filling, type Filling } from "./fill-inbox.ts";

const anna = "anna";
const agent = "agt_01JZZZZZZZZZZZZZZZZZZZZZZZ";

const filters: fc.Arbitrary<ListConversations> = fc
  .record({
    status: fc.constantFrom("open", "snoozed", "closed"),
    handler: fc.constantFrom("ai", "queue", "human", "none"),
    assignee: fc.constantFrom(anna, agent, "nobody we know"),
    label: fc.constantFrom("new", "vip", "nowhere"),
    channel: fc.constantFrom("sms", "mms", "webchat"),
    unread: fc.boolean(),
    opt_out_suspected: fc.boolean(),
    priority: fc.constantFrom("normal", "high", "urgent"),
    unassigned: fc.boolean(),
    waiting: fc.boolean(),
  })
  // With many filters at once, almost nothing would match.
  .chain((all) => fc.subarray(Object.entries(all), { maxLength: 3 }))
  .map((some) => Object.fromEntries(some));

function matches(each: Filling, asked: ListConversations): boolean {
  const facts: ListConversations = {
    status: each.status,
    handler: each.handler,
    assignee: each.assignee ?? undefined,
    unread: each.unread > 0,
    opt_out_suspected: each.suspected,
    priority: each.priority,
    unassigned: each.unassigned,
    waiting: each.wait !== null,
    contact_id: each.contact_id,
  };
  const { label, channel, ...others } = asked;
  if (channel !== undefined && (channel === "webchat") !== (each.medium === "webchat")) {
    return false;
  }
  if (label !== undefined && !each.labels.includes(label)) return false;
  return Object.entries(others).every(([name, wanted]) => Reflect.get(facts, name) === wanted);
}

/**
 * By newest activity, then by newest start; the list of one contact is in order of start. Waiting
 * ones: hand-offs first, then by the longest wait.
 */
function sorted(
  list: readonly Filling[],
  { contact_id, label, waiting }: ListConversations,
): Filling[] {
  const byId = (a: Filling, b: Filling): number => (a.id < b.id ? 1 : -1);
  if (waiting === true && contact_id === undefined && label === undefined) {
    const rank = ({ wait }: Filling): number =>
      (wait?.for === "handoff" ? 0 : 100) + (wait?.since ?? 0);
    return list.toSorted((a, b) => rank(a) - rank(b) || -byId(a, b));
  }
  return list.toSorted(
    (a, b) => (contact_id === undefined ? b.activity - a.activity : 0) || byId(a, b),
  );
}

/** Every page of a list. `between` happens after each. */
async function walk(
  account: AccountHandle,
  asked: ListConversations,
  limit: number,
  between: (page: number) => Promise<void> = async () => {},
): Promise<Conversation[]> {
  const found: Conversation[] = [];
  for (let cursor: string | null | undefined, i = 0; cursor !== null; i++) {
    const page = await account.conversations.list({
      ...asked,
      limit,
      ...(cursor === undefined ? {} : { cursor }),
    });
    expect(page.data.length, `A page has at most ${limit} conversations.`).toBeLessThanOrEqual(
      limit,
    );
    expect(page.has_more, "A page has a cursor exactly if there is more.").toBe(
      page.next_cursor !== null,
    );
    found.push(...page.data);
    cursor = page.next_cursor;
    if (cursor !== null) await between(i);
  }
  return found;
}

describe.each(lightStorages)("the inbox on $name", ({ name, open }) => {
  const numRuns = runsOn(name, { memory: 60, SQLite: 40, PostgreSQL: 6 });

  it("lists the same as a plain sort, with all filters and page sizes", async () => {
    await fc.assert(
      fc.asyncProperty(
        filling,
        fc.array(fc.tuple(filters, fc.boolean()), { minLength: 10, maxLength: 10 }),
        fc.integer({ min: 1, max: 9 }),
        async (rows, asked, limit) => {
          const { engine } = world();
          const port = open().connect();
          const one = engine(port);
          const all = await fill(one, port, rows);
          for (const [given, ofContact] of asked) {
            const one_of_them = all[0];
            const filter =
              ofContact && one_of_them ? { ...given, contact_id: one_of_them.contact_id } : given;
            const expected = sorted(
              all.filter((each) => matches(each, filter)),
              filter,
            );
            const found = await walk(one.account(), filter, limit);
            expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
            for (const [i, shown] of found.entries()) {
              expect(shown.contact.name, "A conversation shows the name of its contact.").toBe(
                expected[i]?.name,
              );
              expect(
                shown.last_message?.preview ?? null,
                "A conversation shows the text of its last message.",
              ).toBe(expected[i]?.preview);
            }
          }
          await one.stop();
        },
      ),
      { numRuns },
    );
  });

  it("skips and repeats no unchanged conversation while others change between pages", async () => {
    const happening = fc.record({
      at: fc.nat(30),
      what: fc.constantFrom("inbound", "close", "snooze", "label", "read", "assign"),
    });
    await fc.assert(
      fc.asyncProperty(
        filling,
        filters,
        fc.array(happening, { maxLength: 12 }),
        fc.integer({ min: 1, max: 4 }),
        async (rows, asked, happenings, limit) => {
          const { engine, clock } = world();
          const port = open().connect();
          const line = carrier({ channels: ["sms", "mms", "webchat"] });
          const one = engine(port, { transports: [line] });
          const all = await fill(one, port, rows);
          await clock.advance(60_000);
          const moved = new Set<string>();
          const { conversations } = one;
          const found = await walk(one.account(), asked, limit, async (page) => {
            const next = happenings[page];
            const each = next && all[next.at % all.length];
            if (each === undefined) return;
            moved.add(each.id);
            const snoozed_until = new Date(clock.now() + 86_400_000).toISOString();
            const change = {
              inbound: () =>
                one.sandbox
                  .inbound({ from: each.phone, body: "again" })
                  .then((message) => moved.add(message.conversation_id)),
              close: () => conversations.update(each.id, { status: "closed" }),
              snooze: () => conversations.update(each.id, { status: "snoozed", snoozed_until }),
              label: () => conversations.setLabels(each.id, ["new"]),
              read: () => conversations.markRead(each.id),
              assign: () => conversations.assign(each.id, { type: "human", id: anna }),
            }[next?.what ?? "read"];
            await change().catch((error: unknown) =>
              expect(error).toMatchObject({ code: "conflict" }),
            );
          });
          const ids = found.map(({ id }) => id);
          // A hand-off that a person takes moves down among those that wait, to a later page.
          const once = asked.waiting === true ? ids.filter((id) => !moved.has(id)) : ids;
          expect(new Set(once).size, `No conversation is on two pages: ${once.join(", ")}.`).toBe(
            once.length,
          );
          const still = all
            .filter((each) => !moved.has(each.id) && matches(each, asked))
            .map(({ id }) => id);
          expect(ids).toEqual(expect.arrayContaining(still));
          await one.stop();
        },
      ),
      { numRuns },
    );
  });

  it("finds the few matches among many others, with short pages", async () => {
    const { engine } = world();
    const port = open().connect();
    const one = engine(port);
    const common: Omit<Filling, "id" | "contact_id" | "phone" | "preview" | "activity"> = {
      name: "Somebody",
      status: "open",
      current: false,
      medium: "text",
      handler: "none",
      assignee: null,
      labels: ["new"],
      unread: 0,
      suspected: false,
      priority: "normal",
      unassigned: false,
      wait: null,
    };
    const rows = Array.from({ length: 1_500 }, (_, i) => ({
      ...common,
      activity: i,
      body: null,
      unread: i < 2 ? 1 : 0,
    }));
    const all = await fill(
      one,
      port,
      rows.map((row) => ({ ...row, handler: row.activity === 3 ? "human" : "none" })),
    );
    for (const asked of [
      { label: "new", unread: true },
      { label: "new", handler: "human" },
      { unread: false, handler: "human" },
    ] as const) {
      const expected = sorted(
        all.filter((each) => matches(each, asked)),
        asked,
      );
      expect((await walk(one.account(), asked, 20)).map(({ id }) => id)).toEqual(
        expected.map(({ id }) => id),
      );
    }
  });

  it("is empty for another account's contact or label", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const message = await one.sandbox.inbound({ from: "+15005551001", body: "Hello" });
    await one.conversations.setLabels(message.conversation_id, ["vip"]);
    const { account } = await one.accounts.create({ name: "neighbour" });
    const neighbour = one.account(account.id);
    for (const asked of [
      {},
      { contact_id: message.contact_id },
      { label: "vip" },
      { unread: true },
    ]) {
      expect((await one.conversations.list(asked)).data).toHaveLength(1);
      expect(await neighbour.conversations.list(asked)).toEqual({
        data: [],
        has_more: false,
        next_cursor: null,
      });
    }
    await expect(neighbour.conversations.messages(message.conversation_id)).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(neighbour.conversations.notes(message.conversation_id)).rejects.toMatchObject({
      code: "not_found",
    });
  });
});

type Change = (engine: MessagingEngine, id: string) => Promise<unknown>;

it.each<[string, Change]>([
  ["loses the label", ({ conversations }, id) => conversations.setLabels(id, [])],
  ["is closed", ({ conversations }, id) => conversations.update(id, { status: "closed" })],
])("the inbox does not list a conversation that %s between two of its reads", async (_, change) => {
  const { engine } = world();
  const storage = memory();
  const other = engine(storage);
  const { conversation_id: id } = await other.sandbox.inbound({ from: "+15005551001", body: "Hi" });
  await other.conversations.setLabels(id, ["vip"]);
  const reader = over(storage.reader, {
    async range(range) {
      const rows = await storage.reader.range(range);
      if (range.index === inboxByLabel) await change(other, id);
      return rows;
    },
  });
  const one = engine(over(storage, { reader }));
  expect((await one.conversations.list({ label: "vip", status: "open" })).data).toEqual([]);
});
