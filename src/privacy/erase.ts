import { startErasure } from "./start-erasure.ts";
import { eraseHistory } from "./erase-history.ts";
import { type ById, byIdSchema } from "../kernel/index.ts";
import type { Procedure } from "../operations/index.ts";

/**
 * Leaves nothing of a contact and of those that were merged into it but counts, and what its addresses allow. It is nobody at once; the
 * rest follows in chunks, and the answer when all of it is gone. Cut off in between, jobs go on.
 */
export const eraseContact: Procedure<ById, void> = {
  kind: "procedure",
  name: "contacts.erase",
  input: () => byIdSchema,
  status: 204,
  async run(steps, input) {
    const { value: erased } = await steps.execute(startErasure, input, 0);
    for (const id of erased.contacts) {
      while ((await steps.commit((tx) => eraseHistory(tx, id))) === "more");
    }
  },
};
