import { identitiesOfContact, identityByAddress, type IdentityRow } from "../contacts/index.ts";
import { contactAddress, type ConversationRow } from "../conversations/index.ts";
import { messageById } from "./rows.ts";
import { TidingsError } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

/**
 * The address that a conversation goes on with: of a contact that has several, the one of its last message.
 * @throws TidingsError `conflict` when the contact has none any more
 */
export async function findCorrespondent(
  tx: Tx,
  conversation: ConversationRow,
): Promise<Seen<IdentityRow>> {
  const { contact_id, medium, last_message_id } = conversation;
  const at = (address: string): Promise<Seen<IdentityRow> | undefined> =>
    tx.get(identityByAddress, [medium, address], { hold: true });
  const last = last_message_id === null ? undefined : await tx.get(messageById, [last_message_id]);
  const usual = last && (await at(contactAddress(last)));
  if (usual?.contact_id === contact_id) return usual;
  const [any] = await tx.list(identitiesOfContact, [contact_id, medium], 1);
  const first = any && (await at(any.address));
  if (first?.contact_id === contact_id) return first;
  throw new TidingsError("conflict", `The contact has no ${medium} address any more.`);
}
