import {
  contactsMergedInto,
  contactToChange,
  identitiesOfContact,
  maxIdentities,
  releaseAddress,
  removeContact,
  type IdentityRow,
} from "../contacts/index.ts";
import { currentConversation, statusPatch, writeConversation } from "../conversations/index.ts";
import { byIdSchema, mediums, type ById, type ContactId } from "../kernel/index.ts";
import { showsNothing, type Command, type Procedure, type Services } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import { arm } from "../queue/index.ts";
import type { Tx } from "../store/index.ts";
import { forgetVisitor } from "../webchat/index.ts";
import { eraseAddress, eraseHistory } from "./erase-history.ts";
import { eraseAddressJob, eraseJob } from "./job-orders.ts";
import { maxMerged } from "./merge-rules.ts";

/**
 * Erases a contact and the contacts that were merged into it. The first transaction takes the
 * addresses and the contact away. From then on a message from an address makes a new contact, and
 * nothing new is stored about the old one but the event `contact.erased`. What was stored before is
 * removed in chunks, and the operation returns when all of it is removed. If the process ends
 * early, jobs continue.
 *
 * These rows stay, without names, addresses or texts: counts; events and deliveries; the consents
 * of the addresses and the carrier's ids of inbound messages, under keyed hashes; and idempotency
 * keys without their responses, until they expire. Early receipts name no contact, so they are not
 * removed; they expire after 72 hours.
 */
export const eraseContact: Procedure<ById, void> = {
  kind: "procedure",
  name: "contacts.erase",
  input: () => byIdSchema,
  status: 204,
  async run(steps, input, { services }) {
    const { value: erased } = await steps.execute(startErasure, input, 0);
    for (const id of erased.contacts) {
      while ((await steps.commit((tx) => eraseHistory(tx, id, services))) === "more");
    }
    for (const hash of erased.addresses) {
      while (
        (await steps.commit((tx) => eraseAddress(tx, hash, services.historyChunks))) === "more"
      );
    }
  },
};

interface Erased {
  /**
   * The contacts that were merged into the erased one, and then the erased one. Their histories are
   * removed next, in this order.
   */
  readonly contacts: ContactId[];
  /** Keyed hashes of their addresses. Stored responses under them are removed last. */
  readonly addresses: string[];
}

/**
 * Removes a contact and its addresses, so that its queued messages are not sent. The consent of its
 * addresses stays under keyed hashes. The history is removed afterwards, in chunks.
 *
 * A concurrent send holds an address or writes a current conversation. So it commits before this
 * transaction or finds no contact. A send that is refused holds nothing, and may store its error
 * under the hash of the address until this transaction has committed. So stored responses under the
 * hashes are removed afterwards, not here.
 */
const startErasure: Command<ById, Erased> = {
  kind: "command",
  name: "contacts.erase.start",
  input: () => byIdSchema,
  status: 200,
  shows: showsNothing,
  async run(tx, { id }, { services }) {
    const contact = await contactToChange(tx, id);
    const addresses: string[] = [];
    const owned = () => tx.list(identitiesOfContact, [contact.id], maxIdentities);
    for (let left = await owned(); left.length > 0; left = await owned()) {
      addresses.push(...(await Promise.all(left.map((each) => removeAddress(tx, services, each)))));
    }
    for (const medium of mediums) {
      const current = await tx.get(currentConversation, [contact.id, medium]);
      if (current === undefined) continue;
      const closed_at = current.closed_at ?? tx.now;
      await writeConversation(tx, current, {
        current: null,
        ...statusPatch({ status: "closed", closed_at }),
      });
    }
    const merged = await tx.list(contactsMergedInto, [contact.id], maxMerged);
    // Read again: closing a conversation writes its contact. The survivor is last: when its event
    // is published, nothing of the others is left either, unless a job had to continue.
    const erased = [...merged, await contactToChange(tx, id)];
    await Promise.all([
      ...erased.map((each) => arm(tx, eraseJob(each, tx.now))),
      ...erased.map((each) => removeContact(tx, each)),
      ...addresses.map((hash) => arm(tx, eraseAddressJob(contact, hash, tx.now))),
    ]);
    return { contacts: erased.map((each) => each.id), addresses };
  },
};

/** Removes an address, with the visitor who has it. Returns its keyed hash. */
async function removeAddress(
  tx: Tx,
  { secret }: Services,
  identity: Seen<IdentityRow>,
): Promise<string> {
  if (identity.medium === "webchat") await forgetVisitor(tx, identity.address);
  return releaseAddress(tx, secret, identity);
}
