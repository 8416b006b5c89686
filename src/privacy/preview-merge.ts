import {
  contactResource,
  contactsMergedInto,
  contactToChange,
  identitiesOfContact,
  identityByAddress,
  maxIdentities,
} from "../contacts/index.ts";
import {
  contactActivity,
  currentConversation,
  isActive,
  showConversations,
  type ConversationRow,
} from "../conversations/index.ts";
import { mediums } from "../kernel/index.ts";
import type { Query } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import { byIndex, type Reads } from "../store/index.ts";
import { conversationToEnd, maxMerged, mergedFacts } from "./merge-rules.ts";
import { previewMergeSchema, type MergeContacts, type MergePreview } from "./merge-types.ts";
import { checkAddresses, checkMerged, otherContact } from "./merge.ts";

/** Returns what a merge would do, by the rules of the merge. */
export const previewMerge: Query<MergeContacts, MergePreview> = {
  kind: "query",
  name: "contacts.previewMerge",
  input: () => previewMergeSchema,
  async run(reads, { id, contact_id }, { services }) {
    const survivor = await contactToChange(reads, id);
    const other = await otherContact(reads, survivor, contact_id);
    const keys = [[survivor.id], [other.id]];
    const [[own = [], others = []], [ownMerged = [], othersMerged = []], activity] =
      await Promise.all([
        reads.lists(identitiesOfContact, keys, maxIdentities + 1),
        reads.lists(contactsMergedInto, keys, maxMerged + 1),
        contactActivity.ofAll(reads, [survivor.id, other.id]),
      ]);
    checkAddresses(own.length + others.length);
    checkMerged(ownMerged.length + othersMerged.length);
    // The order in which the merged contact's addresses are read.
    const identities = [...own, ...others].toSorted(byIndex(identityByAddress));
    const facts = mergedFacts(survivor, other, services.limits.metadataKeys);
    const ended = await conversationsToEnd(reads, survivor.id, other.id);
    return {
      contact: contactResource({ ...survivor, ...facts }, identities, activity),
      closes: await showConversations(reads, ended.filter(isActive)),
    };
  },
};

async function conversationsToEnd(
  reads: Reads,
  survivor: string,
  other: string,
): Promise<Seen<ConversationRow>[]> {
  const ended = mediums.map(async (medium) => {
    const [own, others] = await Promise.all([
      reads.get(currentConversation, [survivor, medium]),
      reads.get(currentConversation, [other, medium]),
    ]);
    return own && others && conversationToEnd(own, others);
  });
  return (await Promise.all(ended)).filter((row) => row !== undefined);
}
