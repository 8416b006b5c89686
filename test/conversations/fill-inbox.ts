/** Writes an inbox of any shape directly into a storage. */
import fc from "fast-check";
import { contacts, identities } from "../../src/contacts/rows.ts";
import { conversationLabels, conversations } from "../../src/conversations/rows.ts";
import { messages, initialColumns } from "../../src/messages/rows.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { type ContactId, type ConversationId, idSource } from "../../src/kernel/ids.ts";
import type { Collection } from "../../src/ports/collection.ts";
import type { StoragePort, Write } from "../../src/ports/storage.ts";
import { simulated } from "../../adapters/testing/index.ts";
import { anyCharacter } from "../support/any-character.ts";

export interface Filling {
  readonly id: ConversationId;
  readonly contact_id: ContactId;
  readonly phone: string;
  /** The contact's display name. */
  readonly name: string;
  readonly preview: string | null;
  /** Milliseconds after the first conversation. */
  readonly activity: number;
  readonly status: "open" | "snoozed" | "closed";
  readonly current: boolean;
  readonly medium: "text" | "webchat";
  readonly handler: "ai" | "queue" | "human" | "none";
  readonly assignee: string | null;
  readonly labels: readonly string[];
  readonly unread: number;
  readonly suspected: boolean;
  readonly priority: "low" | "normal" | "high" | "urgent";
  readonly unassigned: boolean;
  readonly wait: { readonly for: "handoff" | "reply"; readonly since: number } | null;
}

export interface Wish extends Omit<Filling, "id" | "contact_id" | "phone" | "preview"> {
  readonly body: string | null;
}

export const filling: fc.Arbitrary<Wish[]> = fc.array(
  fc.record({
    name: fc.constantFrom("Ada", "Bob", ""),
    body: fc.option(
      fc.oneof(
        fc.string(),
        fc
          .string({ unit: anyCharacter, minLength: 120, maxLength: 180 })
          .map((text) => text.replaceAll("\0", "")),
      ),
    ),
    activity: fc.nat(9),
    status: fc.constantFrom("open", "open", "snoozed", "closed"),
    current: fc.boolean(),
    medium: fc.constantFrom("text", "webchat"),
    handler: fc.constantFrom("ai", "queue", "human", "none"),
    assignee: fc.constantFrom(null, "anna", "agt_01JZZZZZZZZZZZZZZZZZZZZZZZ"),
    labels: fc.subarray(["new", "vip", "late"]),
    unread: fc.constantFrom(0, 0, 1, 2),
    suspected: fc.boolean(),
    priority: fc.constantFrom("normal", "low", "high", "urgent"),
    unassigned: fc.boolean(),
    wait: fc.option(fc.record({ for: fc.constantFrom("handoff", "reply"), since: fc.nat(3) })),
  }),
  { minLength: 1, maxLength: 25 },
);

/** Every third one is an older conversation of the previous one's contact. */
export async function fill(
  engine: MessagingEngine,
  port: StoragePort,
  wishes: readonly Wish[],
): Promise<Filling[]> {
  const { id: account_id } = await engine.account().get();
  const scope = { account_id, mode: "sandbox" } as const;
  const { clock, random } = simulated({ seed: 99 });
  const drawId = idSource(clock, random);
  const writes: Write[] = [];
  const insert = <R extends object>(collection: Collection<R>, row: NoInfer<R>): void => {
    writes.push({ kind: "insert", collection, row: { ...row, version: 1 } });
  };
  const first = clock.now();
  const filled: Filling[] = [];
  for (const [i, wish] of wishes.entries()) {
    const before = i % 3 === 2 ? filled.at(-1) : undefined;
    const phone = before?.phone ?? `+1500556${String(i).padStart(4, "0")}`;
    const contact_id = before?.contact_id ?? drawId("ct");
    const name =
      before === undefined
        ? wish.name === ""
          ? null
          : wish.name
        : before.name === before.phone
          ? null
          : before.name;
    const [created_at, updated_at] = [first, first];
    if (before === undefined) {
      const facts = {
        email: null,
        time_zone: null,
        language: null,
        labels: [],
        attributes: {},
        sentiment_state: null,
      };
      insert(contacts, {
        words: null,
        ...scope,
        id: contact_id,
        name,
        phone,
        ...facts,
        merged_into: null,
        last_message_at: null,
        created_at,
        updated_at,
      });
      const consent = {
        last_sender_id: null,
        consent: "unknown",
        opted_out_of: [],
        opted_in_to: [],
      } as const;
      insert(identities, {
        ...scope,
        medium: "text",
        address: phone,
        contact_id,
        ...consent,
        created_at,
      });
    }
    const id = drawId("conv");
    const { status, medium, handler, assignee, labels, unread, body, priority, wait } = wish;
    const last_activity_at = first + wish.activity;
    const message_id = body === null ? null : drawId("msg");
    insert(conversations, {
      ...scope,
      id,
      contact_id,
      medium,
      status: before === undefined ? status : "closed",
      current: before === undefined ? true : null,
      handler,
      assignee_type: assignee === null ? null : assignee === "anna" ? "human" : "agent",
      assignee_id: assignee,
      labels,
      priority,
      read_at: null,
      contact_wrote: true,
      unassigned: wish.unassigned ? true : null,
      waiting_for: wait?.for ?? null,
      waiting_since: wait === null ? null : first + wait.since,
      snoozed_until: before === undefined && status === "snoozed" ? first + 86_400_000 : null,
      unread_count: unread,
      unread: unread > 0 ? true : null,
      opt_out_suspected: wish.suspected ? true : null,
      message_count: body === null ? 0 : 1,
      last_message_id: message_id,
      last_activity_at,
      metadata: {},
      created_at,
      updated_at,
      closed_at: before !== undefined || status === "closed" ? first : null,
    });
    const state = before === undefined ? status : "closed";
    for (const label of labels) {
      insert(conversationLabels, {
        ...scope,
        label,
        conversation_id: id,
        status: state,
        last_activity_at,
      });
    }
    if (message_id !== null) {
      insert(messages, {
        ...initialColumns,
        ...scope,
        id: message_id,
        conversation_id: id,
        contact_id,
        sequence: 1,
        direction: "inbound",
        channel: medium === "text" ? "sms" : "webchat",
        status: "received",
        from: phone,
        to: "+15005559999",
        body,
        media: [],
        author_type: "contact",
        author_id: contact_id,
        category: "transactional",
        segments: null,
        encoding: null,
        send_at: null,
        expires_at: null,
        transport: "sandbox",
        metadata: {},
        idempotency_key: null,
        created_at,
        updated_at,
      });
    }
    const preview = body === null ? null : [...body].slice(0, 140).join("");
    const shown = { id, contact_id, phone, name: name ?? phone, preview, status: state } as const;
    filled.push({ ...wish, ...shown, current: before === undefined });
  }
  for (let i = 0; i < writes.length; i += 500) await port.begin().commit(writes.slice(i, i + 500));
  return filled;
}
