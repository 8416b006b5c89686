/** Rows of contacts with a conversation each, as the engine writes them. */
import {
  contacts,
  identities,
  type ContactRow,
  type IdentityRow,
} from "../../src/contacts/rows.ts";
import { searchWordsOf } from "../../src/contacts/search/search-rules.ts";
import {
  conversationLabels,
  conversations,
  type ConversationLabelRow,
  type ConversationRow,
} from "../../src/conversations/rows.ts";
import type { Scope } from "../../src/kernel/ids.ts";
import type { Write } from "../../src/ports/storage.ts";

/** How many contacts share a family name, whatever the number of contacts. */
const contactsPerFamily = 50;
/** The number of given names, so the number of contacts that share one grows. */
const givenNames = 20;

const syllables = [
  "ba",
  "de",
  "fi",
  "go",
  "hu",
  "ka",
  "le",
  "mi",
  "no",
  "pu",
  "ra",
  "se",
  "ti",
  "vo",
  "wu",
  "za",
];

/** A number as a pronounceable word. Close numbers begin with the same syllables. */
const word = (n: number): string =>
  [...n.toString(16).padStart(5, "0")].map((c) => syllables[parseInt(c, 16)]).join("");

export interface Person {
  readonly phone: string;
  readonly given: string;
  readonly family: string;
  readonly email: string;
}

export function person(i: number, size: number): Person {
  // The multiplier scatters the members of a family over the contacts.
  const names = {
    given: `x${word(i % givenNames)}`,
    family: word((i * 7_919) % Math.ceil(size / contactsPerFamily)),
  };
  return { ...names, phone: `+1${2_000_000_000 + i}`, email: `${names.family}.${i}@mail.example` };
}

const start = Date.UTC(2026, 0, 1);
const place = (i: number): string => `01J${String(i).padStart(23, "0")}`;
export const contactId = (i: number) => `ct_${place(i)}` as const;

/** The inserts for an account with `size` contacts. */
export function* inserts(
  scope: Scope,
  size: number,
): Generator<Extract<Write, { readonly kind: "insert" }>> {
  for (let i = 0; i < size; i++) {
    const { phone, given: first, family: last, email } = person(i, size);
    const id = contactId(i);
    const conversation_id = `conv_${place(i)}` as const;
    const at = start + i * 1_000;
    const times = { created_at: at, updated_at: at };
    const facts = {
      ...scope,
      ...times,
      id,
      phone,
      email,
      name: `${first} ${last}`,
      attributes: { town: "Metropolis" },
      time_zone: null,
      language: null,
      labels: [],
      sentiment_state: null,
      merged_into: null,
      last_message_at: null,
    };
    const contact: ContactRow = { ...facts, words: searchWordsOf(facts) };
    const identity: IdentityRow = {
      ...scope,
      medium: "text",
      address: phone,
      contact_id: id,
      last_sender_id: null,
      last_sender: null,
      consent: "unknown",
      opted_out_of: [],
      opted_in_to: [],
      created_at: at,
    };
    const status = i % 10 === 0 ? "open" : "closed";
    const conversation: ConversationRow = {
      ...scope,
      ...times,
      id: conversation_id,
      contact_id: id,
      medium: "text",
      status,
      current: true,
      handler: i % 4 === 0 ? "human" : "none",
      priority: "normal",
      snoozed_until: null,
      metadata: {},
      assignee_type: i % 8 === 0 ? "human" : null,
      assignee_id: i % 8 === 0 ? `agent-${i % 5}` : null,
      labels: i % 100 === 0 ? ["vip"] : [],
      unread_count: i % 20 === 0 ? 1 : 0,
      opt_out_suspected: null,
      read_at: null,
      contact_wrote: true,
      unassigned: status === "open" && i % 8 !== 0 ? true : null,
      waiting_for: null,
      waiting_since: null,
      unread: i % 20 === 0 ? true : null,
      message_count: 1,
      moved_count: null,
      last_message_id: null,
      last_activity_at: at,
      closed_at: status === "closed" ? at : null,
    };
    yield { kind: "insert", collection: contacts, row: { ...contact, version: 1 } };
    yield { kind: "insert", collection: identities, row: { ...identity, version: 1 } };
    yield { kind: "insert", collection: conversations, row: { ...conversation, version: 1 } };
    if (i % 100 !== 0) continue;
    const label: ConversationLabelRow = {
      ...scope,
      label: "vip",
      conversation_id,
      status,
      last_activity_at: at,
    };
    yield { kind: "insert", collection: conversationLabels, row: { ...label, version: 1 } };
  }
}
