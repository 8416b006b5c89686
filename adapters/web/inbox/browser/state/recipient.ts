/** To whom a message of a conversation goes that is not a reply: one that is sent later. */
import type { Consents, Conversation, Message, Page } from "../../../../../src/index.ts";
import { api, may } from "../../../shared/browser/index.ts";
import { thread } from "./thread.ts";

/** How many of the latest messages tell the contact's addresses. */
const maxLooked = 20;

/**
 * Returns the contact's address in the last message, to which a reply goes, too. It may not be the
 * contact's phone number: after a merge, a contact has several addresses. Returns the id of the
 * contact if the address is its phone number, or is no longer an address of the contact. Opted-out
 * addresses are passed over.
 */
export async function recipientOf(row: Conversation, signal?: AbortSignal): Promise<string> {
  const { id, contact, medium } = row;
  if (medium !== "text" || !may("contacts:read")) return contact.id;
  const latest = new Set((await latestMessages(id, signal)).filter(isSeen).map(contactAddress));
  if ([...latest].every((address) => address === contact.phone)) return contact.id;
  const path = `v1/contacts/${encodeURIComponent(contact.id)}/consents`;
  const { data } = await api.get<Consents>(path, { signal });
  const usable = new Set(
    data.filter(({ status }) => status !== "opted_out").map(({ address }) => address),
  );
  return [...latest].find((address) => usable.has(address)) ?? contact.id;
}

/** The latest messages of a conversation, newest first. */
async function latestMessages(id: string, signal?: AbortSignal): Promise<readonly Message[]> {
  const open = thread.peek();
  const known = open?.id === id ? open.latest(maxLooked) : [];
  if (known.length > 0) return known;
  const path = `v1/conversations/${encodeURIComponent(id)}/messages`;
  return (await api.get<Page<Message>>(path, { query: { limit: maxLooked }, signal })).data;
}

const isSeen = ({ status }: Message): boolean => status !== "scheduled";

const contactAddress = ({ direction, from, to }: Message): string =>
  direction === "inbound" ? from : to;
