import { jobByName, jobs } from "../../../src/queue/rows.ts";
import { messages, type MessageRow, outbox } from "../../../src/messages/rows.ts";
import type { Invariant } from "../invariant.ts";
import { peek } from "../rows.ts";

/** A message that is forgotten would still be found when the next one comes, so it is looked for at once, not at the end. */
export const neverForgotten: Invariant = {
  name: "what waits has a job that comes for it",
  watch: ({ ground }) => ({
    *commit(engine, writes) {
      for (const write of writes) {
        if (write.collection === messages && (write.kind === "insert" || write.kind === "update")) {
          const { id, status, conversation_id } = write.row as unknown as MessageRow;
          const name =
            status === "scheduled"
              ? ["release", id]
              : status === "queued"
                ? ["send", conversation_id]
                : undefined;
          if (name !== undefined && peek(ground, jobByName, name).length === 0) {
            yield {
              about: [id],
              says: `${engine} left ${id} ${status}, and no job is to ${name.join(" ")}`,
            };
          }
        }
        if (write.collection === jobs && write.kind === "remove" && write.key[0] === "send") {
          const [, conversation_id = ""] = write.key;
          const [left] = peek(ground, outbox, [conversation_id]);
          if (left !== undefined) {
            yield {
              about: [left.id],
              says: `${engine} ended the job of ${left.id}'s conversation, which is ${left.status}`,
            };
          }
        }
      }
    },
  }),
};
