/** The contacts of conversations: their names, and which were erased. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type {
  Contact,
  ContactReference,
  Conversation,
  Event,
  Page,
} from "../../../../src/index.ts";
import {
  api,
  ApiError,
  isVisible,
  may,
  shownAddress,
  type Loaded,
} from "../../shared/browser/index.ts";

/** The contacts that the console knows, by the ids of their conversations. */
const known = signal<ReadonlyMap<string, ContactReference>>(new Map());
const maxKnown = 2_000;

/**
 * The ids of contacts that were erased while the page is open, and of their conversations. Lists
 * that are already loaded, and responses that are under way, may still have rows of these contacts.
 */
const erased = signal<ReadonlySet<string>>(new Set());
const maxErased = 2_000;

/** The maximum page size of the API. */
const pageSize = 100;

/** The contact of a conversation. Undefined if the console does not know it. */
export const contactOf = (
  conversationId: string | null | undefined,
): ContactReference | undefined => known.value.get(conversationId ?? "");

/** The name of a contact as people read it. Undefined if it is invisible, or the phone number. */
export const nameOf = (contact: ContactReference | undefined): string | undefined =>
  contact === undefined || !isVisible(contact.name) || contact.name === contact.phone
    ? undefined
    : shownAddress(contact.name);

/** The name of a conversation's contact, or else its number. A dash if neither is known. */
export function shownContact(conversationId: string | null): string {
  const contact = contactOf(conversationId);
  return nameOf(contact) ?? shownAddress(contact?.phone ?? "–");
}

/** Whether the contact or the conversation with this id was erased. */
export const isErased = (id: string | null | undefined): boolean => erased.value.has(id ?? "");

/**
 * Whether what a page shows was erased with its contact. The server no longer has it then, which
 * also tells of an erasure whose event was missed. `idOf` returns the id of its contact or
 * conversation.
 */
export const isErasedSince = <Data>(
  { data, error }: Loaded<Data>,
  idOf: (data: Data) => string | null,
): boolean =>
  data !== undefined &&
  (isErased(idOf(data)) || (error instanceof ApiError && error.status === 404));

/**
 * Reads the contacts of the conversations with the latest activity, or of the conversations of one
 * contact. The latest messages and runs mostly belong to these conversations, so one request names
 * the contacts on the first page of a list. If the request fails, the list is shown without names.
 */
export async function readContacts(stop: AbortSignal, contactId?: string): Promise<void> {
  if (!may("conversations:read")) return;
  const query = { limit: pageSize, contact_id: contactId };
  const page = await api
    .get<Page<Conversation>>("v1/conversations", { query, signal: stop })
    .catch(() => undefined);
  learn(page?.data ?? []);
}

/** Reads the contact of a conversation, unless the console knows it. */
export function useContactOf(conversationId: string | null | undefined): void {
  useEffect(() => {
    if (typeof conversationId !== "string" || known.peek().has(conversationId)) return;
    if (!may("conversations:read")) return;
    const stop = new AbortController();
    const path = `v1/conversations/${encodeURIComponent(conversationId)}`;
    api.get<Conversation>(path, { signal: stop.signal }).then(
      (found) => learn([found]),
      () => {},
    );
    return () => stop.abort();
  }, [conversationId]);
}

/** Notes the names and the erasures of contacts that an event reports. */
export function noteContact({ type, data }: Event): void {
  switch (type) {
    case "contact.erased":
      forget(data.contact_id);
      break;
    case "contact.updated":
      rename(data.contact);
      break;
    case "message.received":
      learn([{ id: data.conversation_id, contact: data.contact }]);
      break;
    case "conversation.created":
    case "conversation.updated":
      learn([data.conversation]);
      break;
    default:
  }
}

interface Learned {
  readonly id: string;
  readonly contact: ContactReference;
}

function learn(conversations: readonly Learned[]): void {
  const gone = conversations.filter(({ contact }) => erased.peek().has(contact.id));
  addErased(gone.map(({ id }) => id));
  const next = new Map(known.peek());
  for (const { id, contact } of conversations) {
    // The latest ones are last, so that the oldest are dropped.
    next.delete(id);
    if (!erased.peek().has(contact.id)) next.set(id, contact);
  }
  known.value = new Map([...next].slice(-maxKnown));
}

function rename({ id, name, phone, identities }: Contact): void {
  const address = phone ?? identities[0]?.address ?? "";
  const shown = { id, name: isVisible(name) ? name : address, phone };
  const own = [...known.peek()].filter(([, contact]) => contact.id === id);
  learn(own.map(([conversation]) => ({ id: conversation, contact: shown })));
}

function forget(contactId: string): void {
  const isOwn = ([, contact]: readonly [string, ContactReference]): boolean =>
    contact.id === contactId;
  const entries = [...known.peek()];
  addErased([contactId, ...entries.filter(isOwn).map(([id]) => id)]);
  known.value = new Map(entries.filter((entry) => !isOwn(entry)));
}

function addErased(ids: readonly string[]): void {
  if (ids.length === 0) return;
  erased.value = new Set([...erased.peek(), ...ids].slice(-maxErased));
}
