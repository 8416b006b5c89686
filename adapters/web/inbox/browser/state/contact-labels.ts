/** Changes to the labels of contacts. Each is shown at once, and taken back if it fails. */
import { batch, signal } from "@preact/signals";
import type { Contact } from "../../../../../src/index.ts";
import { api, explain, newKey, toast } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { readContact } from "./contacts.ts";
import { inTurn } from "./in-turn.ts";

interface LabelChange {
  readonly label: string;
  /** Whether the label is added. Else it is removed. */
  readonly isAdded: boolean;
}

/** The changes that are under way, oldest first, by the id of the contact. */
const changes = signal<ReadonlyMap<string, readonly LabelChange[]>>(new Map());

/** The labels of a contact after the changes that are under way, whatever else changed meanwhile. */
export const labelsOf = ({ id, labels }: Contact): readonly string[] =>
  (changes.value.get(id) ?? []).reduce(apply, labels);

function apply(labels: readonly string[], { label, isAdded }: LabelChange): readonly string[] {
  if (labels.includes(label) === isAdded) return labels;
  return isAdded ? [...labels, label] : labels.filter((each) => each !== label);
}

/** Adds a label to a contact, or removes one. `show` gets the contact after the change. */
export async function changeLabel(
  id: string,
  change: LabelChange,
  show: (contact: Contact) => void,
): Promise<void> {
  const { label, isAdded } = change;
  begin(id, change);
  try {
    const contact = await inTurn(id, () => write(id, change));
    batch(() => {
      end(id, change);
      show(contact);
    });
  } catch (error) {
    end(id, change);
    toast({
      message: t(isAdded ? "contactLabelNotAdded" : "contactLabelNotRemoved", {
        label,
        reason: explain(error),
      }),
      isError: true,
    });
  }
}

/**
 * Changes one label. The API takes only all labels of a contact, so they are read right before: the
 * page may not know what others have changed.
 */
async function write(id: string, change: LabelChange): Promise<Contact> {
  const contact = await readContact(id);
  const labels = apply(contact.labels, change);
  if (labels === contact.labels) return contact;
  return api.patch<Contact>(`v1/contacts/${id}`, { labels }, { key: newKey() });
}

const begin = (id: string, change: LabelChange): void =>
  setChanges(id, (others) => [...others, change]);

const end = (id: string, change: LabelChange): void =>
  setChanges(id, (all) => all.filter((each) => each !== change));

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
