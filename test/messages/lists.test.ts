import { describe, expect, onTestFinished, test } from "vitest";
import type { MessagingEngine } from "../../adapters/entry.ts";
import type { ContactId, ConversationId, Scope } from "../../src/kernel/ids.ts";
import type { MessageStatus } from "../../src/kernel/message-status.ts";
import type { Page } from "../../src/kernel/page.ts";
import type { ListMessages } from "../../src/messages/input-types.ts";
import { messages, rareStatuses, type MessageRow } from "../../src/messages/rows.ts";
import type { Message } from "../../src/messages/types.ts";
import { schema } from "../../src/modules.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { world } from "../support/engines/world.ts";
import { lightStorages } from "../support/storage/storages.ts";

const ulid = (n: number): string => String(n).padStart(26, "0");
const conversation_id: ConversationId = `conv_${ulid(1)}`;
const contact_id: ContactId = `ct_${ulid(1)}`;
/** More rows than one page scans. */
const many = 2_500;
/** The ordinals of the few messages to another address. */
const few = new Set([3, 1_200, 1_201, many - 2]);
const [usual, other] = ["+15005550001", "+15005550002"];
/** The ordinal of the one message that has each of these statuses. It is among the oldest. */
const ordinals: ReadonlyMap<MessageStatus, number> = new Map(
  rareStatuses.map((status, n) => [status, n + 4]),
);
const statuses = new Map([...ordinals].map(([status, n]) => [n, status]));

function row(scope: Scope, n: number): MessageRow {
  return {
    ...scope,
    id: `msg_${ulid(n)}`,
    conversation_id,
    contact_id,
    sequence: n,
    first_sequence: null,
    placed_at: n,
    direction: "outbound",
    channel: "sms",
    status: statuses.get(n) ?? "delivered",
    from: "+15005559999",
    to: few.has(n) ? other : usual,
    body: "Hello",
    media: [],
    author_type: "api",
    author_id: null,
    category: "transactional",
    in_batch: false,
    segments: 1,
    encoding: "GSM-7",
    send_at: null,
    rescheduled_at: null,
    deferred: null,
    expires_at: null,
    error: null,
    transport: null,
    provider_message_id: null,
    opt_out_suspected: false,
    keyword: null,
    metadata: {},
    idempotency_key: null,
    attempts: 0,
    retry_at: null,
    ended_as: null,
    basis: null,
    created_at: n,
    updated_at: n,
    sent_at: null,
    delivered_at: null,
    read_at: null,
  };
}

interface Filled {
  readonly engine: MessagingEngine;
  readonly own: Scope;
}

/** An account with one long conversation. */
async function filled(port: StoragePort, writer: StoragePort): Promise<Filled> {
  const engine = world().engine(port);
  const { account } = await engine.accounts.create({ name: "own" });
  const own: Scope = { account_id: account.id, mode: "live" };
  await writer.open(schema);
  onTestFinished(() => writer.close());
  const inserts = Array.from({ length: many }, (_, n) => ({
    kind: "insert" as const,
    collection: messages,
    row: { ...row(own, n), version: 1 },
  }));
  await writer.begin().commit(inserts);
  return { engine, own };
}

type List = (input: ListMessages) => Promise<Page<Message>>;

function listOf(engine: MessagingEngine, { account_id, mode }: Scope): List {
  return (input) => engine.account(account_id, { mode }).messages.list(input);
}

async function walk(list: List, filters: ListMessages): Promise<Page<Message>[]> {
  const pages: Page<Message>[] = [];
  for (let cursor: string | null | undefined; cursor !== null; cursor = pages.at(-1)?.next_cursor) {
    pages.push(await list({ ...filters, ...(cursor === undefined ? {} : { cursor }) }));
  }
  return pages;
}

const ranges: [string, ListMessages][] = [
  ["of an account", {}],
  ["of a conversation", { conversation_id }],
  ["of a contact", { contact_id }],
];

describe.each(lightStorages)("a list of messages on $name", ({ open }) => {
  test.each(ranges)(
    "%s finds the few matches of a filter among many others, page by page",
    async (_, stretch) => {
      const ground = open();
      const { engine, own } = await filled(ground.connect(), ground.connect());
      const pages = await walk(listOf(engine, own), { ...stretch, to: other, limit: 3 });
      const ids = pages.flatMap(({ data }) => data).map(({ id }) => id);
      expect(ids).toEqual([...few].toReversed().map((n) => `msg_${ulid(n)}`));
      // A page that scanned all rows would have found three.
      expect(pages[0]?.data).toHaveLength(1);
      const whole = await walk(listOf(engine, own), { ...stretch, limit: 100 });
      expect(whole).toHaveLength(many / 100);
    },
  );

  test("by a rare status finds the oldest messages on the first page", async () => {
    const ground = open();
    const { engine, own } = await filled(ground.connect(), ground.connect());
    const list = listOf(engine, own);
    for (const [status, n] of ordinals) {
      const created_before = new Date(many).toISOString();
      for (const filters of [{}, { to: usual }, { created_before }]) {
        const page = await list({ status, ...filters });
        expect([status, page.data.map(({ id }) => id)]).toEqual([status, [`msg_${ulid(n)}`]]);
        expect(page.has_more).toBe(false);
      }
      expect((await list({ status, to: other })).data).toEqual([]);
    }
  });

  test("by recipient finds exactly the messages to an address, and refuses what is no address", async () => {
    const one = world().engine(open().connect());
    const { contact_id: visitor } = await one.webchat.open();
    const sent = [
      await one.messages.send({ to: "+15005550001", body: "a" }),
      await one.messages.send({ to: "+15005550002", body: "b" }),
      await one.messages.send({ to: visitor, channel: "webchat", body: "c" }),
    ];
    const inbound = await one.sandbox.inbound({ from: "+15005550001", body: "d" });
    const idsOf = async (filters: ListMessages): Promise<string[]> =>
      (await one.messages.list(filters)).data.map(({ id }) => id);
    for (const { id, to } of sent) expect(await idsOf({ to })).toEqual([id]);
    expect(await idsOf({ to: inbound.to })).toEqual([inbound.id]);
    expect(await idsOf({ to: inbound.to, direction: "inbound" })).toEqual([inbound.id]);
    expect(await idsOf({ to: "sandbox", direction: "inbound" })).toEqual([]);
    for (const to of ["x", "15005550001", "0171 123", "sandbox", visitor]) {
      await expect(one.messages.list({ to })).rejects.toMatchObject({
        code: "validation_failed",
        errors: [{ pointer: "/to" }],
      });
    }
  });

  test("of a contact that was merged has the messages of its survivor", async () => {
    const { clock, started } = world();
    const one = await started(open().connect());
    const other = await one.messages.send({ to: "+15005550001", body: "a" });
    const { id, contact_id: survivor } = await one.messages.send({ to: "+15005550002", body: "b" });
    await one.contacts.merge(survivor, other.contact_id);
    await clock.settle();
    for (const contact_id of [other.contact_id, survivor]) {
      const { data } = await one.messages.list({ contact_id });
      expect(data.map((message) => message.id)).toEqual([id, other.id]);
    }
  });

  test("is empty for conversations and contacts of another account or mode", async () => {
    const ground = open();
    const { engine, own } = await filled(ground.connect(), ground.connect());
    const { account } = await engine.accounts.create({ name: "stranger" });
    const strangers: Scope[] = [
      { account_id: account.id, mode: "live" },
      { ...own, mode: "sandbox" },
    ];
    for (const scope of strangers) {
      for (const [, stretch] of ranges) {
        for (const filters of [
          {},
          { status: "failed" },
          { created_after: "1970-01-01T00:00:00Z" },
        ] as const) {
          const page = await listOf(engine, scope)({ ...stretch, ...filters });
          expect(page).toEqual({ data: [], has_more: false, next_cursor: null });
        }
      }
    }
  });
});
