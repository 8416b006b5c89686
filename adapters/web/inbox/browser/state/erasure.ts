/** Removes what the page has of a contact that was erased, here or by somebody else. */
import { go, linkTo, placeNow, toast } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { contacts } from "./contacts.ts";
import { dropErased } from "./conversations.ts";
import { forgetContact, forgetConversation } from "./drafts.ts";
import { noteErased } from "./erased.ts";
import { forgetHandoff } from "./handoffs.ts";
import { forgetMatchIn } from "./matches.ts";
import { sweepDrafts } from "./sweep.ts";

/**
 * Removes what the page has of the contact. If the contact or a conversation with it is open, goes
 * back to the list.
 */
export function removeErased(contactId: string): void {
  forgetContact(contactId);
  noteErased(contactId);
  contacts.drop(contactId);
  const dropped = dropErased(contactId);
  for (const id of dropped) {
    forgetConversation(id);
    forgetHandoff(id);
    forgetMatchIn(id);
  }
  // The page does not know all conversations of the contact.
  void sweepDrafts();
  const {
    path: [view = "all", open = ""],
    query,
  } = placeNow();
  if (open !== contactId && !dropped.includes(open)) return;
  go(linkTo([view], query), true);
  toast({ message: t("erased") });
}
