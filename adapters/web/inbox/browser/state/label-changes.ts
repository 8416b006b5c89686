/** Changes to labels. Each is shown at once, and taken back if it fails. */
import { signal } from "@preact/signals";
import type { Contact, Conversation } from "../../../../../src/index.ts";
import { api, explain, newKey, toast } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { readContact } from "./contacts.ts";
import { conversations } from "./conversations.ts";
import { inTurn } from "./in-turn.ts";
import { nextSequence } from "./order.ts";

interface LabelChange {
  readonly label: string;
  /** Whether the label is added. Else it is removed. */
  readonly isAdded: boolean;
}

/** The changes that are under way, oldest first, by the id of the contact or the conversation. */
const changes = signal<ReadonlyMap<string, readonly LabelChange[]>>(new Map());

/**
 * The labels of a contact or a conversation after the changes that are under way, whatever else
 * changed meanwhile.
 */
export const labelsOf = ({ id, labels }: Contact | Conversation): readonly string[] =>
  (changes.value.get(id) ?? []).reduce(apply, labels);

function apply(labels: readonly string[], { label, isAdded }: LabelChange): readonly string[] {
  if (labels.includes(label) === isAdded) return labels;
  return isAdded ? [...labels, label] : labels.filter((each) => each !== label);
}

// The API takes only all labels together, so they are read right before a write: the page may not
// know what others have changed.

/** Adds a label to a contact, or removes one. `show` gets the contact after the change. */
export const changeContactLabel = (
  id: string,
  change: LabelChange,
  show: (contact: Contact) => void,
): Promise<void> =>
  make(id, change, async () => {
    const contact = await readContact(id);
    const labels = apply(contact.labels, change);
    show(
      labels === contact.labels
        ? contact
        : await api.patch<Contact>(`v1/contacts/${id}`, { labels }, { key: newKey() }),
    );
  });

/** Adds a label to a conversation, or removes one. */
export const changeConversationLabel = (id: string, change: LabelChange): Promise<void> =>
  make(id, change, async () => {
    const before = await conversations.fetch(id);
    const labels = apply(before.labels, change);
    if (labels === before.labels) return;
    const sequence = nextSequence();
    const path = `v1/conversations/${id}/labels`;
    const after = await api.put<Conversation>(path, { labels }, { key: newKey() });
    conversations.putResponse(after, sequence);
  });

async function make(id: string, change: LabelChange, write: () => Promise<void>): Promise<void> {
  setChanges(id, (others) => [...others, change]);
  try {
    await inTurn(id, write);
  } catch (error) {
    const text = change.isAdded ? "labelNotAdded" : "labelNotRemoved";
    const reason = explain(error);
    toast({ message: t(text, { label: change.label, reason }), isError: true });
  }
  setChanges(id, (all) => all.filter((each) => each !== change));
}

function setChanges(
  id: string,
  changed: (own: readonly LabelChange[]) => readonly LabelChange[],
): void {
  const next = new Map(changes.peek());
  const own = changed(next.get(id) ?? []);
  if (own.length === 0) next.delete(id);
  else next.set(id, own);
  changes.value = next;
}
