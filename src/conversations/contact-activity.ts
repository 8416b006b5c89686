import { mediumSchema } from "../kernel/index.ts";
import type { ContactActivity } from "../operations/index.ts";
import { currentConversation } from "./rows.ts";

const media = mediumSchema.options;

/** The activity in contacts' current conversations. */
export const contactActivity: ContactActivity = {
  async of(tx, contact) {
    const current = await Promise.all(
      media.map((medium) => tx.get(currentConversation, [contact, medium])),
    );
    return current.filter((each) => each !== undefined);
  },
  ofAll: (reads, contacts) =>
    reads.getAll(
      currentConversation,
      contacts.flatMap((contact) => media.map((medium) => [contact, medium] as const)),
    ),
};
