import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import type {
  ConversationMatch,
  SearchConversations,
} from "../../src/messages/search/search-types.ts";
import { world } from "../support/engines/world.ts";
import { isLong, runsOn } from "../support/runs.ts";
import { storages } from "../support/storage/storages.ts";

const phones = ["+15005551001", "+15005551002", "+15005551003", "+15005551004"];
const phoneOf = (i: number): string => phones[i % phones.length] ?? "";

const vocabulary = ["refund", "Refunds", "reform", "café", "CAFE", "order", "4711", "straße", "a"];
const words = fc
  .array(fc.constantFrom(...vocabulary), { minLength: 1, maxLength: 4 })
  .map((list) => list.join(", "));
const queries = fc
  .array(fc.constantFrom("ref", "refund", "cafe", "ORDER", "47", "strasse", "b"), {
    minLength: 1,
    maxLength: 2,
  })
  .map((list) => list.join(" "));

const plain = (text: string): string[] =>
  text
    .toUpperCase()
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");

const matches = (body: string, q: string): boolean =>
  plain(q).every((word) => plain(body).some((each) => each.startsWith(word)));

const search = async (one: MessagingEngine, q: string): Promise<ConversationMatch[]> =>
  (await one.conversations.search({ q, limit: 100 })).data;

const idsOf = (found: readonly ConversationMatch[]): string[] =>
  found.map(({ conversation }) => conversation.id);

describe.each(storages)("the search of the inbox on $name", ({ name, open }) => {
  /** What does not depend on the storage. See `lightStorages`. */
  const isTried = isLong || name === "SQLite";

  it("finds the same messages as a scan, with the newest message of each conversation first", async () => {
    const said = fc.array(
      fc.record({ person: fc.nat(3), who: fc.constantFrom("contact", "person"), body: words }),
      { minLength: 1, maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(
        said,
        fc.array(queries, { minLength: 3, maxLength: 3 }),
        async (all, asked) => {
          const { engine } = world();
          const one = engine(open().connect());
          const written: {
            readonly conversation: string;
            readonly id: string;
            readonly body: string;
          }[] = [];
          const known = new Map<number, string>();
          for (const { person, who, body } of all) {
            const conversation = known.get(person);
            const { id, conversation_id } =
              who === "contact" || conversation === undefined
                ? await one.sandbox.inbound({ from: phoneOf(person), body })
                : await one.conversations.reply(conversation, { body });
            known.set(person, conversation_id);
            written.unshift({ conversation: conversation_id, id, body });
          }
          for (const q of asked) {
            const expected = new Map<string, string>();
            for (const { conversation, id, body } of written) {
              if (matches(body, q) && !expected.has(conversation)) expected.set(conversation, id);
            }
            const found = await search(one, q);
            expect(found.map((each) => [each.conversation.id, each.message?.id])).toEqual([
              ...expected,
            ]);
          }
          await one.stop();
        },
      ),
      { numRuns: runsOn(name, { memory: 40, SQLite: 20, PostgreSQL: 4 }) },
    );
  });

  it.runIf(isTried)(
    "finds contacts by name, address and phone number, and labels, before messages",
    async () => {
      const { engine } = world();
      const one = engine(open().connect());
      await one.contacts.create({ phone: phoneOf(0), name: "Ada Vip", email: "ada@shop.example" });
      const { conversation_id: byName } = await one.sandbox.inbound({
        from: phoneOf(0),
        body: "Hi",
      });
      const { conversation_id: byLabel } = await one.sandbox.inbound({
        from: phoneOf(1),
        body: "Hi",
      });
      await one.conversations.setLabels(byLabel, ["vip"]);
      const { conversation_id: byText, id } = await one.sandbox.inbound({
        from: phoneOf(2),
        body: "Am I a VIP?",
      });
      const found = await search(one, "vip");
      expect(found.map((each) => [each.conversation.id, each.message?.id ?? null])).toEqual([
        [byName, null],
        [byLabel, null],
        [byText, id],
      ]);
      expect(idsOf(await search(one, "ada@shop"))).toEqual([byName]);
      expect(idsOf(await search(one, phoneOf(1)))).toEqual([byLabel]);
      const page = await one.conversations.search({ q: "vip", limit: 2 });
      expect([idsOf(page.data), page.has_more, page.next_cursor]).toEqual([
        [byName, byLabel],
        true,
        null,
      ]);
      const { account } = await one.accounts.create({ name: "other" });
      const theirs = await one.account(account.id).conversations.search({ q: "vip" });
      expect(theirs.data).toEqual([]);
    },
  );

  it("finds only conversations that pass the filters", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const write = (from: string, body: string) => one.sandbox.inbound({ from, body });
    const old = await write(phoneOf(0), "My refund, please");
    await one.conversations.update(old.conversation_id, { status: "closed", priority: "high" });
    const vip = await write(phoneOf(1), "A refund");
    await one.conversations.setLabels(vip.conversation_id, ["refund", "vip"]);
    await one.conversations.assign(vip.conversation_id, { type: "human", id: "kim" });
    for (const from of phones.slice(2)) await write(from, "Refund refund");
    const ask = async (filters: Omit<SearchConversations, "q">) =>
      idsOf((await one.conversations.search({ q: "refund", limit: 1, ...filters })).data);
    expect(await ask({ status: "closed" })).toEqual([old.conversation_id]);
    expect(await ask({ priority: "high" })).toEqual([old.conversation_id]);
    expect(await ask({ assignee: "kim", status: "open" })).toEqual([vip.conversation_id]);
    expect(await ask({ label: "vip" })).toEqual([vip.conversation_id]);
    expect(await ask({ label: "vip", status: "closed" })).toEqual([]);
    expect(await ask({ channel: "webchat" })).toEqual([]);
    const rest = { q: "refund", waiting: true, unassigned: true, limit: 1 } as const;
    const page = await one.conversations.search(rest);
    expect([page.data.length, page.has_more]).toEqual([1, true]);
    const both = await one.conversations.search({ ...rest, limit: 2 });
    expect([both.data.length, both.has_more]).toEqual([2, false]);
  });

  it.runIf(isTried)("finds no text that was redacted, erased or sent by a program", async () => {
    const { started, clock } = world();
    const one = await started(open().connect());
    const first = await one.sandbox.inbound({ from: phoneOf(0), body: "swordfish" });
    const other = await one.sandbox.inbound({ from: phoneOf(1), body: "swordfish" });
    await one.messages.send({ to: phoneOf(2), body: "swordfish, our newsletter" });
    await clock.settle();
    const both = [other.conversation_id, first.conversation_id];
    expect(idsOf(await search(one, "swordfish"))).toEqual(both);
    await one.messages.redact(first.id);
    expect(idsOf(await search(one, "swordfish"))).toEqual([other.conversation_id]);
    await one.contacts.erase(other.contact_id);
    expect(await search(one, "swordfish")).toEqual([]);
  });
});

it("finds a conversation that passes the filters behind hundreds of newer ones that do not", async () => {
  const { engine } = world();
  const one = engine(memory());
  const write = (i: number) =>
    one.sandbox.inbound({ from: `+1500555${String(i).padStart(4, "0")}`, body: "A refund" });
  const { conversation_id: old } = await write(0);
  await one.conversations.update(old, { status: "closed" });
  for (let i = 1; i <= 260; i++) await write(i);
  const { data } = await one.conversations.search({ q: "refund", status: "closed" });
  expect(idsOf(data)).toEqual([old]);
});

it("finds the conversation of a contact behind hundreds of others who have the name but have not written", async () => {
  const { engine } = world();
  const one = engine(memory());
  const phone = (i: number) => `+1500555${String(i).padStart(4, "0")}`;
  const { conversation_id: id, contact_id } = await one.sandbox.inbound({
    from: phone(1),
    body: "Hello",
  });
  await one.contacts.update(contact_id, { name: "Ann Lee" });
  const rows = Array.from({ length: 600 }, (_, i) => ({ phone: phone(i + 2), name: "Ann Lee" }));
  for await (const { status } of one.contacts.import(rows)) expect(status).toBe("created");
  for (const q of ["ann", "+1500555"]) {
    expect(idsOf((await one.conversations.search({ q, limit: 1 })).data), q).toEqual([id]);
    const open = await one.conversations.search({ q, limit: 1, status: "open" });
    expect(idsOf(open.data), `${q}, open`).toEqual([id]);
  }
});
