/** The conversations that the page knows, and the list that shows them. */
import type { Contact, Conversation } from "../../../../../src/index.ts";
import { api } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { nameIn } from "../words.ts";
import { isErased } from "./erased.ts";
import { LiveList } from "./live-list.ts";
import { isGone, sweepDrafts } from "./sweep.ts";
import { byView, isShown, requestOf, type ListQuery } from "./views.ts";

/** The list of one view, with its filters and its words of search. */
export const conversations = new LiveList<Conversation, ListQuery>({
  first: { view: "all" },
  order: ({ view }) => byView(view),
  isRanked: ({ words }) => words !== undefined,
  isShown,
  isGone: ({ contact }) => isErased(contact.id),
  readPage: requestOf,
  readRow,
});

/** Reads a conversation. If it is gone, its contact was erased. */
async function readRow(id: string, signal?: AbortSignal): Promise<Conversation> {
  try {
    // The address of the page may name anything.
    return await api.get<Conversation>(`v1/conversations/${encodeURIComponent(id)}`, { signal });
  } catch (error) {
    if (isGone(error)) void sweepDrafts();
    throw error;
  }
}

/** A conversation, once the page knows it. */
export const conversation = (id: string): Conversation | undefined => conversations.row(id);

/** Its value now, without listening to changes. */
export const conversationNow = (id: string): Conversation | undefined => conversations.rowNow(id);

/** The name of the contact of a conversation. */
export function nameOfContact(id: string): string {
  const row = conversationNow(id);
  return row === undefined ? t("contactUnknown") : nameIn(row);
}

/** Removes the conversations of a contact that was erased. Returns their ids. */
export function dropErased(contactId: string): readonly string[] {
  const dropped = conversations.rowsNow().filter(({ contact }) => contact.id === contactId);
  for (const { id } of dropped) conversations.drop(id);
  return dropped.map(({ id }) => id);
}

/** Contacts that have changed, by their ids. */
const changed = new Map<string, Contact>();
const namingDelayMs = 200;
let naming: ReturnType<typeof setTimeout> | undefined;

/**
 * Shows the name and the number that a contact has now in its conversations: they have no event of
 * their own. One pass over all rows serves many events, since an import may change thousands of
 * contacts.
 */
export function nameSoon(contact: Contact): void {
  changed.set(contact.id, contact);
  naming ??= setTimeout(() => {
    naming = undefined;
    for (const { id, contact: shown } of conversations.rowsNow()) {
      const { name, phone } = changed.get(shown.id) ?? shown;
      const next = { ...shown, phone, name: name ?? phone ?? shown.name };
      if (next.name === shown.name && next.phone === shown.phone) continue;
      conversations.patch(id, { contact: next });
    }
    changed.clear();
  }, namingDelayMs);
}
