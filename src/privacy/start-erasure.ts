import {
  contactsMergedInto,
  contactToChange,
  forgetAddress,
  identitiesOfContact,
  media,
  mostIdentities,
  mostMerged,
  removeContact,
} from "../contacts/index.ts";
import { currentConversation, kept, writeConversation } from "../conversations/index.ts";
import { arm } from "../queue/index.ts";
import { type ById, byIdSchema, type ContactId } from "../kernel/index.ts";
import type { Command } from "../operations/index.ts";
import { eraseJob } from "./contact-jobs.ts";
import { forgetVisitor } from "../webchat/index.ts";

export interface Erased {
  /** The contact and those that were merged into it: what is left of them goes next. */
  readonly contacts: ContactId[];
}

/** Rows of a visitor's mailbox, at once. */
const mostMail = 500;

/**
 * From this commit on there is no such contact: its addresses are nobody's, and nothing that is queued for it is handed over. What its
 * addresses allow outlives it, under keyed hashes of them. All else that is left of it goes afterwards, chunk by chunk.
 *
 * Whoever is about to write to the contact holds an address or writes a current conversation, and so comes before this or finds nobody.
 */
export const startErasure: Command<ById, Erased> = {
  kind: "command",
  name: "contacts.erase.start",
  input: () => byIdSchema,
  status: 200,
  async run(tx, { id }, { services }) {
    const contact = await contactToChange(tx, id);
    for (const medium of media) {
      const current = await tx.get(currentConversation, [contact.id, medium]);
      if (current === undefined) continue;
      const closed_at = current.closed_at ?? tx.now;
      await writeConversation(tx, current, {
        current: null,
        ...kept({ status: "closed", closed_at }),
      });
    }
    const owned = () => tx.list(identitiesOfContact, [contact.id], mostIdentities);
    for (let left = await owned(); left.length > 0; left = await owned()) {
      for (const identity of left) {
        // As long as what was sent to it. What it has yet to see goes with the rest.
        while (
          identity.medium === "webchat" &&
          !(await forgetVisitor(tx, identity.address, mostMail))
        );
        await forgetAddress(tx, services.secret, identity);
      }
    }
    const merged = await tx.list(contactsMergedInto, [contact.id], mostMerged);
    // A conversation that is closed tells its contact.
    const gone = [await contactToChange(tx, id), ...merged];
    for (const each of gone) {
      await arm(tx, eraseJob(each, tx.now));
      await removeContact(tx, each);
    }
    return { contacts: gone.map((each) => each.id) };
  },
};
