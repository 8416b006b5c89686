/** What commits change for the open streams. */
import { agents } from "../../agents/index.ts";
import { identities, type IdentityRow } from "../../contacts/index.ts";
import type { EventRow } from "../../events/index.ts";
import { scopeKey, type Scope } from "../../kernel/index.ts";
import { operators } from "../../operators/index.ts";
import type { Write } from "../../ports/index.ts";
import { mailboxName, webchatSessions } from "../../webchat/index.ts";

export function contactName(contact: Scope & { readonly contact_id: string }): string {
  return `${scopeKey(contact)} ${contact.contact_id}`;
}

/** Names the contact whose conversation an event has changed, if any. */
export function changedContact(row: EventRow): string | undefined {
  const { type, contact_id } = row;
  if (contact_id === null || !type.startsWith("conversation.")) return undefined;
  return contactName({ ...row, contact_id });
}

/** The mailbox of a visitor whose contact a write changes, if any. */
export function changedMailbox(write: Write): string[] {
  if (write.kind !== "update" || write.collection !== identities) return [];
  return write.changed.includes("contact_id")
    ? [mailboxName(write.row as unknown as IdentityRow)]
    : [];
}

/** The scope in which a write may change a person's or an agent's name, if any. */
export function renamedScope(write: Write): string[] {
  const { kind, collection } = write;
  if (kind !== "update" || (collection !== operators && collection !== agents)) return [];
  return [scopeKey(write.row as unknown as Scope)];
}

/** The session that a write removes, if any. */
export function removedSession(write: Write): unknown[] {
  return write.kind === "remove" && write.collection === webchatSessions ? write.key.slice(-1) : [];
}
