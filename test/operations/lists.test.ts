import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import type { ListMessages } from "../../src/messages/input-types.ts";
import type { Message } from "../../src/messages/types.ts";
import { accepted, carrier, refused } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { runsOn } from "../support/runs.ts";
import { lightStorages } from "../support/storage/storages.ts";

const iso = (ms: number): string => new Date(ms).toISOString();

/** All pages of a list, as a client reads them. */
async function walk<T>(
  list: (page: {
    limit: number;
    cursor?: string | null;
  }) => Promise<{ data: T[]; has_more: boolean; next_cursor: string | null }>,
  limit: number,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | null = null;
  do {
    const page = await list({ limit, cursor });
    expect(page.data.length, `A page has at most ${limit} items.`).toBeLessThanOrEqual(limit);
    expect(page.has_more, "A page has a cursor exactly if there is more.").toBe(
      page.next_cursor !== null,
    );
    all.push(...page.data);
    cursor = page.next_cursor;
    await between();
  } while (cursor !== null);
  return all;
}

const filters = ({
  begun,
  contacts,
}: {
  begun: number;
  contacts: readonly Message[];
}): fc.Arbitrary<ListMessages> => {
  const maybe = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
    fc.option(of, { nil: undefined, freq: 2 });
  // Messages are 100 ms apart, so some time bounds equal a message's time.
  const time = fc
    .integer({ min: -1, max: 25 })
    .chain((n) => fc.constantFrom(-1, 0, 0, 1).map((ms) => iso(begun + n * 100 + ms)));
  return fc
    .record({
      status: maybe(
        fc.constantFrom(
          "sent" as const,
          "failed" as const,
          "received" as const,
          "scheduled" as const,
        ),
      ),
      direction: maybe(fc.constantFrom("inbound" as const, "outbound" as const)),
      channel: maybe(fc.constantFrom("sms" as const, "mms" as const)),
      to: maybe(fc.constantFrom("+15005550001", "+15005550002", "+15005559999")),
      contact_id: maybe(
        fc.constantFrom(...contacts.map(({ contact_id }) => contact_id), "ct_nobody"),
      ),
      conversation_id: maybe(
        fc.constantFrom(...contacts.map(({ conversation_id }) => conversation_id)),
      ),
      created_after: maybe(time),
      created_before: maybe(time),
    })
    .map((drawn) =>
      Object.fromEntries(Object.entries(drawn).filter(([, value]) => value !== undefined)),
    );
};

/** The same filters, applied to an array. */
function matches(
  message: Message,
  { created_after, created_before, ...columns }: ListMessages,
): boolean {
  const equal = Object.entries(columns).every(
    ([column, wanted]) => Reflect.get(message, column) === wanted,
  );
  return (
    equal &&
    (created_after === undefined || message.created_at > created_after) &&
    (created_before === undefined || message.created_at < created_before)
  );
}

/** The messages that a list has, of all from the newest to the oldest. */
function listed(all: readonly Message[], filter: ListMessages): readonly Message[] {
  const matching = all.filter((each) => matches(each, filter));
  if (filter.conversation_id === undefined) return matching;
  // A conversation is listed in the order of its thread. Messages that wait for their time come
  // first. All others took their places when they were new.
  return [
    ...matching.filter(({ placed_at }) => placed_at === null),
    ...matching.filter(({ placed_at }) => placed_at !== null),
  ];
}

/** Random filters rarely leave a conversation with messages that wait. */
const ofConversations = (contacts: readonly Message[]): [ListMessages, number][] =>
  contacts.map(({ conversation_id }) => [{ conversation_id }, 7]);

describe.each(lightStorages)("lists on $name", ({ name, open }) => {
  const numRuns = runsOn(name, { memory: 150, SQLite: 60, PostgreSQL: 15 });

  async function filled() {
    const { clock, started } = world();
    const line = carrier({
      send: ({ body }, attempt) => (body === "refuse" ? refused : accepted(attempt)),
    });
    const one = await started(open().connect(), { transports: [line] });
    const { account } = await one.accounts.create({ name: "lists" });
    const handle: AccountHandle = one.account(account.id);
    const begun = clock.now();
    const write = async (n: number): Promise<string> => {
      const to = `+1500555000${n % 3}`;
      const body = n % 5 === 0 ? "refuse" : String(n);
      const media = n % 4 === 0 ? { media: [{ url: "https://example.com/a.png" }] } : {};
      const send_at = n % 11 === 0 ? { send_at: iso(begun + 86_400_000) } : {};
      const [{ id }] = await Promise.all([
        n % 6 === 0
          ? handle.sandbox.inbound({ from: to, body, ...media })
          : handle.messages.send({ to, body, ...media, ...send_at }),
        n % 5 === 0 && one.messages.send({ to, body: "another account's" }),
      ]);
      return id;
    };
    const made: string[] = [];
    for (let n = 0; n < 60; n += 3) {
      made.push(...(await Promise.all([n, n + 1, n + 2].map(write))));
      await clock.advance(100);
    }
    await clock.settle();
    const all = await Promise.all(made.map((id) => handle.messages.get(id)));
    // Ids ascend in the order of creation.
    all.sort((a, b) => (a.id < b.id ? 1 : -1));
    return { clock, one, handle, all, begun, contacts: all.slice(0, 6) };
  }

  it("return the same as a filtered array, newest first, for all filters and page sizes", async () => {
    const { handle, all, begun, contacts } = await filled();
    await fc.assert(
      fc.asyncProperty(
        filters({ begun, contacts }),
        fc.integer({ min: 1, max: 30 }),
        async (filter, limit) => {
          const found = await walk((page) => handle.messages.list({ ...filter, ...page }), limit);
          expect(found).toEqual(listed(all, filter));
          expect(await Array.fromAsync(handle.messages.list({ ...filter, limit }))).toEqual(found);
        },
      ),
      { numRuns, examples: ofConversations(contacts) },
    );
  });

  it("filter messages by created_at, also while ids are drawn some time after it", async () => {
    const { clock, engine } = world();
    let ticks = 0;
    // Time passes within each command, so each message is created before its id is drawn.
    const now = (): number => clock.now() + 7 * ticks++;
    const { messages } = engine(open().connect(), { clock: over(clock, { now }) });
    const all: Message[] = [];
    for (let n = 0; n < 12; n++) {
      all.unshift(await messages.send({ to: `+1500555000${n % 2}`, body: String(n) }));
    }
    const contact_id = all[0]?.contact_id ?? "";
    for (const { created_at } of all) {
      for (const ms of [-1, 0, 1]) {
        const time = iso(Date.parse(created_at) + ms);
        for (const also of [{}, { contact_id }]) {
          for (const filter of [{ created_after: time }, { created_before: time }]) {
            const found = await walk((page) => messages.list({ ...filter, ...also, ...page }), 5);
            expect(found.map(({ id }) => id)).toEqual(
              all.filter((each) => matches(each, { ...filter, ...also })).map(({ id }) => id),
            );
          }
        }
      }
    }
  });

  it("filter by times that are finer than those of the rows, as some clients write them", async () => {
    const { engine } = world();
    const { messages, contacts } = engine(open().connect());
    const { created_at, contact_id } = await messages.send({ to: "+15005550001", body: "Hi" });
    const justAfter = ["000001", "5", "999"].map((digits) => created_at.replace("Z", `${digits}Z`));
    const justBefore = iso(Date.parse(created_at) - 1).replace("Z", "999Z");
    const same = created_at.replace("Z", "000+00:00");
    const count = async (filter: Pick<ListMessages, "created_after" | "created_before">) => {
      const pages = [
        messages.list(filter),
        messages.list({ ...filter, contact_id }),
        contacts.list(filter),
      ];
      return (await Promise.all(pages)).map(({ data }) => data.length);
    };
    const found = [1, 1, 1];
    const none = [0, 0, 0];
    for (const time of justAfter) {
      expect(await count({ created_before: time })).toEqual(found);
      expect(await count({ created_after: time })).toEqual(none);
    }
    expect(await count({ created_before: justBefore })).toEqual(none);
    expect(await count({ created_after: justBefore })).toEqual(found);
    expect(await count({ created_before: same })).toEqual(none);
    expect(await count({ created_after: same })).toEqual(none);
  });

  it("skip and repeat no unchanged message while new ones arrive", async () => {
    const { handle, all, begun, contacts } = await filled();
    await fc.assert(
      fc.asyncProperty(
        filters({ begun, contacts }),
        fc.integer({ min: 1, max: 10 }),
        async (filter, limit) => {
          const found = await walk(
            (page) => handle.messages.list({ ...filter, ...page }),
            limit,
            () => handle.sandbox.inbound({ from: "+15005550001", body: "meanwhile" }),
          );
          const ids = found.map(({ id }) => id);
          expect(new Set(ids).size, `No message is on two pages: ${ids.join(", ")}.`).toBe(
            ids.length,
          );
          const still = new Set(all.map(({ id }) => id));
          expect(ids.filter((id) => still.has(id))).toEqual(
            listed(all, filter).map(({ id }) => id),
          );
        },
      ),
      {
        numRuns: runsOn(name, { memory: 40, SQLite: 20, PostgreSQL: 8 }),
        examples: ofConversations(contacts),
      },
    );
  });

  it("accept a cursor only with its own list, filters, account and mode", async () => {
    const { one, handle } = await filled();
    const { next_cursor } = await handle.messages.list({ limit: 2, status: "sent" });
    const cursor = next_cursor ?? "";
    const errors = [{ pointer: "/cursor" }];
    const invalid = { code: "invalid_cursor", status: 400, errors };
    await expect(handle.messages.list({ limit: 5, status: "sent", cursor })).resolves.toBeDefined();
    await expect(handle.messages.list({ limit: 2, cursor })).rejects.toMatchObject(invalid);
    await expect(
      handle.messages.list({ limit: 2, status: "failed", cursor }),
    ).rejects.toMatchObject(invalid);
    await expect(handle.events.list({ limit: 2, cursor })).rejects.toMatchObject(invalid);
    const others = [one, one.account(handle.scope.account_id, { mode: "live" })];
    for (const { messages } of others) {
      const asked = { limit: 2, status: "sent", cursor } as const;
      await expect(messages.list(asked)).rejects.toMatchObject(invalid);
    }
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ minLength: 1 }), fc.nat(cursor.length - 1)),
        async (wrong) => {
          const forged =
            typeof wrong === "string"
              ? wrong
              : `${cursor.slice(0, wrong)}${cursor[wrong] === "A" ? "B" : "A"}${cursor.slice(wrong + 1)}`;
          await expect(
            handle.messages.list({ limit: 2, status: "sent", cursor: forged }),
          ).rejects.toMatchObject(invalid);
        },
      ),
      { numRuns },
    );
  });

  it("of events return the same as a filtered log, for all types and page sizes", async () => {
    const { handle } = await filled();
    const log = await walk((page) => handle.events.list(page), 100);
    const types = fc.constantFrom(undefined, ...new Set(log.map(({ type }) => type)));
    await fc.assert(
      fc.asyncProperty(types, fc.integer({ min: 1, max: 50 }), async (type, limit) => {
        const filter = type === undefined ? {} : { type };
        const expected = log.filter((event) => type === undefined || event.type === type);
        expect(await walk((page) => handle.events.list({ ...filter, ...page }), limit)).toEqual(
          expected,
        );
      }),
      { numRuns },
    );
  });

  it("of large resources have short pages, and return all", async () => {
    const one = world().engine(open().connect(), { agents: { model: () => ({}) } });
    const { account } = await one.accounts.create({ name: "lists" });
    const { agents, contacts } = one.account(account.id);
    const names = Array.from({ length: 12 }, (_, n) => `Agent ${n}`);
    const piece = { title: "Prices", text: "x".repeat(4_000) };
    const knowledge = Array.from({ length: 100 }, () => piece);
    for (const name of names) await agents.create({ name, channels: ["sms"], knowledge });
    const attributes = Object.fromEntries(
      Array.from({ length: 50 }, (_, n) => [`attribute_${n}`, "x".repeat(500)]),
    );
    const people = Array.from({ length: 90 }, (_, n) => `Person ${n}`);
    for (const name of people) await contacts.create({ name, attributes });

    const first = [await agents.list({ limit: 100 }), await contacts.list({ limit: 100 })];
    for (const page of first) {
      expect(page.data).not.toEqual([]);
      expect(JSON.stringify(page).length).toBeLessThan(4_500_000);
      expect(page.has_more).toBe(true);
    }
    for (const limit of [3, 100]) {
      const named = [
        await walk((page) => agents.list(page), limit),
        await walk((page) => contacts.list(page), limit),
      ];
      expect(named.map((all) => all.map(({ name }) => name))).toEqual([
        names.toReversed(),
        people.toReversed(),
      ]);
    }
  });

  it("of keys and senders return all, for all page sizes", async () => {
    const one = world().engine(open().connect(), { transports: [carrier()] });
    const { account } = await one.accounts.create({ name: "lists" });
    const handle = one.account(account.id);
    for (let n = 0; n < 7; n++) {
      await handle.apiKeys.create({ name: String(n) });
      await handle.senders.create({
        address: `+1555123000${n}`,
        channels: ["sms"],
        transport: "sandbox",
      });
    }
    for (const limit of [1, 3, 100]) {
      const keys = await walk((page) => handle.apiKeys.list(page), limit);
      expect(keys.map((key) => key.name)).toEqual([
        "6",
        "5",
        "4",
        "3",
        "2",
        "1",
        "0",
        "First sandbox key",
      ]);
      expect(JSON.stringify(keys)).not.toMatch(/secret|hash/);
      expect(await walk((page) => handle.senders.list(page), limit)).toHaveLength(9);
    }
  });
});
