import { type Contact, type MergeContacts, mergeContactsSchema } from "../contacts/index.ts";
import { joinContacts, showMerged } from "./join-contacts.ts";
import { moveHistory } from "./move-history.ts";
import type { Procedure } from "../operations/index.ts";

/**
 * Makes two contacts one. What comes and goes is the survivor's at once; the history follows in chunks, and the answer when all of it has
 * moved. Cut off in between, a job goes on.
 */
export const mergeContacts: Procedure<MergeContacts, Contact> = {
  kind: "procedure",
  name: "contacts.merge",
  input: () => mergeContactsSchema,
  status: 200,
  async run(steps, input) {
    const { value: joined } = await steps.execute(joinContacts, input, 0);
    while ((await steps.commit((tx) => moveHistory(tx, joined.other))) === "more");
    const { value: contact } = await steps.execute(showMerged, { id: joined.survivor }, 1);
    return contact;
  },
};
