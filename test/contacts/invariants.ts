/** Invariants of contacts and their data. */
import { expect } from "vitest";
import { contactLabels, contacts, identities } from "../../src/contacts/rows.ts";
import { conversations, notes } from "../../src/conversations/rows.ts";
import { events } from "../../src/events/rows.ts";
import { attempts, messages, timeline } from "../../src/messages/rows.ts";
import { observations } from "../../src/observations/rows.ts";
import type { Collection } from "../../src/ports/collection.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { clearedFields } from "../../src/privacy/merge-rules.ts";
import { jobs } from "../../src/queue/jobs/rows.ts";
import { messageScores } from "../../src/sentiment/rows.ts";
import { mail, mailboxes, webchatSessions } from "../../src/webchat/rows.ts";
import { rowsOf, rowsOfEach } from "../support/storage/rows.ts";

/** The tables that are checked. */
const checked: readonly Collection[] = [
  contacts,
  conversations,
  messages,
  identities,
  webchatSessions,
  mailboxes,
  mail,
  contactLabels,
  attempts,
  timeline,
  messageScores,
  observations,
  notes,
  events,
];

/** Checks one account while nothing is under way. */
export async function checkContacts(storage: StoragePort, account_id: string): Promise<void> {
  const { of } = await rowsOfEach(storage, checked, account_id);
  const byId = new Map(of(contacts).map((row) => [row.id, row]));
  const threads = new Map(of(conversations).map((row) => [row.id, row]));
  const written = new Map(of(messages).map((row) => [row.id, row]));
  const isSomebody = (id: string, of_: object): void => {
    expect([of_, byId.get(id as never)?.merged_into]).toEqual([of_, null]);
  };

  for (const { id, merged_into, ...own } of byId.values()) {
    if (merged_into === null) continue;
    isSomebody(merged_into, { merged: id });
    expect(own, `The merged contact ${id} keeps no personal data.`).toMatchObject(clearedFields);
  }
  const addresses = of(identities);
  for (const { address, contact_id } of addresses) isSomebody(contact_id, { address });
  for (const { id, phone } of byId.values()) {
    const known = addresses.find(({ medium, address }) => medium === "text" && address === phone);
    if (phone !== null) {
      expect(
        known?.contact_id,
        `The phone number of contact ${id} is an address of that contact.`,
      ).toBe(id);
    }
  }
  const visitors = new Set(
    addresses.flatMap(({ medium, address }) => (medium === "webchat" ? [address] : [])),
  );
  for (const { address } of [...of(webchatSessions), ...of(mailboxes), ...of(mail)]) {
    expect([address, visitors.has(address)]).toEqual([address, true]);
  }
  const labelled = of(contactLabels).map(({ contact_id, label }) => `${contact_id} ${label}`);
  const labels = [...byId.values()].flatMap(({ id, labels: own }) =>
    own.map((label) => `${id} ${label}`),
  );
  expect(
    labelled.toSorted(),
    "The index of labels has each label of each contact, and no other.",
  ).toEqual(labels.toSorted());

  for (const { id, contact_id } of threads.values()) isSomebody(contact_id, { conversation: id });
  const current = [...threads.values()].filter((row) => row.current !== null);
  expect(
    new Set(current.map(({ contact_id, medium }) => `${contact_id} ${medium}`)).size,
    "A contact has at most one current conversation on a medium.",
  ).toBe(current.length);
  for (const { status, current: last } of threads.values()) {
    if (last === null) {
      expect(status, "A conversation that is not current is closed.").toBe("closed");
    }
  }

  for (const { id, contact_id, conversation_id, author_type, author_id } of written.values()) {
    isSomebody(contact_id, { message: id });
    expect([id, threads.get(conversation_id)?.contact_id]).toEqual([id, contact_id]);
    if (author_type === "contact") expect([id, author_id]).toEqual([id, contact_id]);
  }
  for (const { id, message_count } of threads.values()) {
    const numbers = [...written.values()].flatMap((row) =>
      row.conversation_id === id ? [row.sequence] : [],
    );
    expect(
      numbers.toSorted((a, b) => a - b),
      `The messages of conversation ${id} are numbered from 1 without a gap.`,
    ).toEqual(Array.from({ length: message_count }, (_, i) => i + 1));
  }
  const parts = [...of(attempts), ...of(timeline)];
  for (const { message_id } of parts) {
    expect(
      written.has(message_id),
      `Attempts and timeline entries belong to a message: ${message_id} is missing.`,
    ).toBe(true);
  }
  for (const { message_id, contact_id, state } of of(messageScores)) {
    expect(
      written.get(message_id)?.contact_id,
      `The score of message ${message_id} belongs to the contact of the message.`,
    ).toBe(contact_id);
    expect(state, `Message ${message_id} has its score once nothing is under way.`).not.toBe(
      "pending",
    );
  }
  for (const { id, contact_id } of of(observations)) {
    isSomebody(contact_id, { observation: id });
  }
  for (const { conversation_id } of of(notes)) {
    expect(
      threads.has(conversation_id),
      `A note belongs to a conversation: ${conversation_id} is missing.`,
    ).toBe(true);
  }
  // The events of a merged contact are found under its survivor.
  for (const { contact_id } of of(events)) {
    if (contact_id !== null) {
      expect(
        byId.has(contact_id),
        `An event names an existing contact: ${contact_id} is missing.`,
      ).toBe(true);
    }
  }
  expect(
    (await rowsOf(storage, jobs)).filter(({ kind }) => kind === "merge" || kind === "erase"),
  ).toEqual([]);
}
