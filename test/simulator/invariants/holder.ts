import { jobs, type JobRow } from "../../../src/queue/rows.ts";
import { attempts, type AttemptRow, messageById } from "../../../src/messages/rows.ts";
import type { Invariant } from "../invariant.ts";
import { peek } from "../rows.ts";

/** An engine that stalled and lost its conversation to another must find that out before it goes on. */
export const holderAlone: Invariant = {
  name: "only who holds a conversation hands over its messages",
  watch({ ground }) {
    const holders = new Map<string, string>();
    return {
      *commit(engine, writes) {
        for (const write of writes) {
          if (write.collection !== jobs || (write.kind !== "insert" && write.kind !== "update")) {
            continue;
          }
          const { kind, key, leased } = write.row as unknown as JobRow;
          // What is armed and leased in one breath is inserted leased.
          const isTaken = leased && (write.kind === "insert" || write.changed.includes("fence"));
          if (kind === "send" && isTaken) holders.set(key, engine);
        }
        for (const write of writes) {
          if (write.collection !== attempts || write.kind !== "insert") continue;
          const { account_id, mode, message_id } = write.row as unknown as AttemptRow;
          const [message] = peek(ground, messageById, [account_id, mode, message_id]);
          const holder = message && holders.get(message.conversation_id);
          if (message !== undefined && holder !== engine) {
            const about = [message_id, message.conversation_id];
            yield {
              about,
              says: `${engine} handed over ${message_id}, whose conversation ${holder ?? "nobody"} holds`,
            };
          }
        }
      },
    };
  },
};
