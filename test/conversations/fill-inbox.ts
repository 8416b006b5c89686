/** Writes an inbox of any shape directly into a storage. */
import fc from "fast-check";
import { simulated } from "../../adapters/testing/index.ts";
import { contacts, identities } from "../../src/contacts/rows.ts";
import { conversationLabels, conversations } from "../../src/conversations/rows.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import {
  idSource,
  type AccountId,
  type ContactId,
  type ConversationId,
  type GenerateId,
  type MessageId,
} from "../../src/kernel/ids.ts";
import { initialColumns, messages } from "../../src/messages/rows.ts";
import type { Collection } from "../../src/ports/collection.ts";
import type { StoragePort, Write } from "../../src/ports/storage.ts";
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
  const filler = new Filler(account_id);
  const filled: Filling[] = [];
  for (const [i, wish] of wishes.entries()) {
    const previous = i % 3 === 2 ? filled.at(-1) : undefined;
    filled.push(previous === undefined ? filler.addNew(wish, i) : filler.addOlder(wish, previous));
  }
  const { writes } = filler;
  for (let i = 0; i < writes.length; i += 500) await port.begin().commit(writes.slice(i, i + 500));
  return filled;
}

/** A contact with its display name. */
type Person = Pick<Filling, "contact_id" | "phone" | "name">;

/** Makes the rows of contacts and conversations. */
class Filler {
  readonly writes: Write[] = [];
  readonly #scope: { readonly account_id: AccountId; readonly mode: "sandbox" };
  readonly #drawId: GenerateId;
  /** When the first conversation began. */
  readonly #first: number;

  constructor(account_id: AccountId) {
    const { clock, random } = simulated({ seed: 99 });
    this.#scope = { account_id, mode: "sandbox" };
    this.#drawId = idSource(clock, random);
    this.#first = clock.now();
  }

  /** Adds a contact with its current conversation. */
  addNew(wish: Wish, i: number): Filling {
    const phone = `+1500556${String(i).padStart(4, "0")}`;
    const contact_id = this.#drawId("ct");
    this.#addContact(contact_id, phone, wish.name === "" ? null : wish.name);
    return this.#addConversation(wish, { contact_id, phone, name: wish.name || phone }, true);
  }

  /** Adds a closed conversation of a contact that has a current one. */
  addOlder(wish: Wish, { contact_id, phone, name }: Person): Filling {
    return this.#addConversation({ ...wish, status: "closed" }, { contact_id, phone, name }, false);
  }

  #addContact(contact_id: ContactId, phone: string, name: string | null): void {
    this.#insert(contacts, {
      ...this.#scope,
      id: contact_id,
      name,
      phone,
      words: null,
      email: null,
      time_zone: null,
      language: null,
      labels: [],
      attributes: {},
      sentiment_state: null,
      merged_into: null,
      last_message_at: null,
      created_at: this.#first,
      updated_at: this.#first,
    });
    this.#insert(identities, {
      ...this.#scope,
      medium: "text",
      address: phone,
      contact_id,
      last_sender_id: null,
      last_sender: null,
      consent: "unknown",
      opted_out_of: [],
      opted_in_to: [],
      created_at: this.#first,
    });
  }

  #addConversation(wish: Wish, person: Person, current: boolean): Filling {
    const id = this.#drawId("conv");
    const { status, assignee, labels, unread, body, wait } = wish;
    const last_activity_at = this.#first + wish.activity;
    const message_id = body === null ? null : this.#drawId("msg");
    this.#insert(conversations, {
      ...this.#scope,
      id,
      contact_id: person.contact_id,
      medium: wish.medium,
      status,
      current: current ? true : null,
      handler: wish.handler,
      assignee_type: assignee === null ? null : assignee === "anna" ? "human" : "agent",
      assignee_id: assignee,
      labels,
      priority: wish.priority,
      read_at: null,
      contact_wrote: true,
      unassigned: wish.unassigned ? true : null,
      waiting_for: wait?.for ?? null,
      waiting_since: wait === null ? null : this.#first + wait.since,
      snoozed_until: status === "snoozed" ? this.#first + 86_400_000 : null,
      unread_count: unread,
      unread: unread > 0 ? true : null,
      opt_out_suspected: wish.suspected ? true : null,
      message_count: body === null ? 0 : 1,
      moved_count: null,
      last_message_id: message_id,
      last_activity_at,
      metadata: {},
      created_at: this.#first,
      updated_at: this.#first,
      closed_at: status === "closed" ? this.#first : null,
    });
    for (const label of labels) {
      const row = { label, conversation_id: id, status, last_activity_at };
      this.#insert(conversationLabels, { ...this.#scope, ...row });
    }
    if (message_id !== null) this.#addMessage(message_id, id, wish, person);
    const preview = body === null ? null : [...body].slice(0, 140).join("");
    return { ...wish, ...person, id, preview, current };
  }

  #addMessage(
    id: MessageId,
    conversation_id: ConversationId,
    { body, medium }: Wish,
    { contact_id, phone }: Person,
  ): void {
    this.#insert(messages, {
      ...initialColumns,
      ...this.#scope,
      id,
      conversation_id,
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
      placed_at: this.#first,
      created_at: this.#first,
      updated_at: this.#first,
    });
  }

  #insert<R extends object>(collection: Collection<R>, row: NoInfer<R>): void {
    this.writes.push({ kind: "insert", collection, row: { ...row, version: 1 } });
  }
}
