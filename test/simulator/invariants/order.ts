import {
  attempts,
  messageById,
  messages,
  type MessageRow,
  outbox,
} from "../../../src/messages/rows.ts";
import type { Breach, Invariant } from "../invariant.ts";
import { allOf, peek } from "../rows.ts";

/**
 * In a conversation what was ordered first goes first. A message that backs off holds those after it; one that is scheduled, or whose
 * answer was lost, does not.
 */
export const inOrder: Invariant = {
  name: "a conversation goes out in its order",
  watch: ({ ground, clients, carrier }) => {
    /** Messages that once were scheduled or ambiguous: they have lost their place. */
    const loose = new Set<string>();
    const placed = ({ id }: MessageRow): boolean => !loose.has(id);
    return {
      *commit(engine, writes) {
        for (const write of writes) {
          if (
            write.collection !== messages ||
            (write.kind !== "insert" && write.kind !== "update")
          ) {
            continue;
          }
          const { id, status } = write.row as unknown as MessageRow;
          if (status === "scheduled" || status === "ambiguous") loose.add(id);
        }
        for (const write of writes) {
          if (write.collection !== attempts || write.kind !== "insert") continue;
          const { account_id, mode, message_id } = write.row as unknown as {
            account_id: string;
            mode: string;
            message_id: string;
          };
          const [message] = peek(ground, messageById, [account_id, mode, message_id]);
          if (message === undefined || loose.has(message_id)) continue;
          const ahead = peek(ground, outbox, [message.conversation_id]).find(
            (each) => each.sequence < message.sequence && placed(each),
          );
          if (ahead !== undefined) {
            const says = `${engine} handed over ${message_id}, though ${ahead.id} stands before it and is ${ahead.status}`;
            yield { about: [message_id, ahead.id], says };
          }
        }
      },
      async end() {
        const breaches: Breach[] = [];
        const all = new Map(allOf(ground, messages).map((each) => [each.id as string, each]));
        const last = new Map<string, MessageRow>();
        for (const { message, number } of carrier.calls) {
          const row = all.get(message.message_id);
          if (row === undefined || number > 1 || loose.has(row.id)) continue;
          const before = last.get(row.conversation_id);
          if (before !== undefined && before.sequence > row.sequence) {
            breaches.push({
              about: [before.id, row.id],
              says: `the carrier got ${before.id} before ${row.id}, which stands before it`,
            });
          }
          last.set(row.conversation_id, row);
        }
        return [...breaches, ...misplaced()];
      },
    };

    /** Who waits for an answer before the next order can rely on their order. */
    function misplaced(): Breach[] {
      const answered = clients.orders.filter(({ acknowledged }) => acknowledged !== null);
      const rows = new Map(allOf(ground, messages).map((each) => [each.id as string, each]));
      return answered.flatMap((later) =>
        answered.flatMap((earlier) => {
          const [a, b] = [rows.get(earlier.message?.id ?? ""), rows.get(later.message?.id ?? "")];
          if (a === undefined || b === undefined || a.conversation_id !== b.conversation_id) {
            return [];
          }
          if ((earlier.acknowledged ?? Infinity) >= later.begun || a.sequence < b.sequence) {
            return [];
          }
          return [
            {
              about: [a.id, b.id],
              says: `${b.id} was ordered after ${a.id} was acknowledged, and stands before it`,
            },
          ];
        }),
      );
    }
  },
};
