import { contacts } from "../../../src/contacts/rows.ts";
import { conversations, type ConversationRow } from "../../../src/conversations/rows.ts";
import { messages, type MessageRow } from "../../../src/messages/rows.ts";
import { mediumOf } from "../../../src/kernel/fields.ts";
import type { Write } from "../../../src/ports/storage.ts";
import type { Invariant } from "../invariant.ts";
import { reopenHours } from "../terms.ts";

const windowMs = reopenHours * 3_600_000;

function rowsOf<R>(writes: readonly Write[], collection: Write["collection"]): R[] {
  return writes.flatMap((write) =>
    write.collection === collection && (write.kind === "insert" || write.kind === "update")
      ? [write.row as unknown as R]
      : [],
  );
}

export const reopening: Invariant = {
  name: "what comes in opens a closed conversation again within its time, and begins a new one after that",
  watch({ desk }) {
    /** As they were before the commit that is looked at. */
    const threads = new Map<string, ConversationRow>();
    const currentOf = ({ contact_id, channel }: MessageRow): ConversationRow | undefined =>
      [...threads.values()].find(
        (each) =>
          each.current === true &&
          each.contact_id === contact_id &&
          each.medium === mediumOf(channel),
      );
    return {
      *commit(engine, writes) {
        const came = writes.filter(
          ({ collection, kind }) => collection === messages && kind === "insert",
        );
        const all = rowsOf<MessageRow>(came, messages);
        // A merge in the same commit may have come first, and with it another conversation.
        const judged = rowsOf<object>(writes, contacts).length > 0 ? [] : all;
        for (const message of judged) {
          const { id, contact_id, conversation_id, created_at, from } = message;
          const last = currentOf(message);
          if (last?.status !== "closed" || last.closed_at === null) continue;
          // Others who may have opened it, or a new one, just before.
          const isAlone = all.filter((each) => each.contact_id === contact_id).length === 1;
          const isAsked = [last.id, contact_id, from].some((each) => desk.opening.has(each));
          if (message.direction === "outbound" || !isAlone || isAsked) continue;
          const age = created_at - last.closed_at;
          if (age < windowMs === (conversation_id === last.id)) continue;
          const how = conversation_id === last.id ? "opened it again" : `began ${conversation_id}`;
          const says = `${last.id} was closed for ${age} ms when ${id} came in, which ${how} at ${engine}`;
          yield { about: [last.id, id, conversation_id], says };
        }
        for (const row of rowsOf<ConversationRow>(writes, conversations)) threads.set(row.id, row);
        for (const write of writes) {
          if (write.collection === conversations && write.kind === "remove") {
            threads.delete(String(write.key[2]));
          }
        }
      },
    };
  },
};
