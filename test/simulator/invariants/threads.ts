import { type ConversationRow, conversations } from "../../../src/conversations/rows.ts";
import { jobByName } from "../../../src/queue/rows.ts";
import { messages, type MessageRow } from "../../../src/messages/rows.ts";
import type { Write } from "../../../src/ports/storage.ts";
import type { Invariant } from "../invariant.ts";
import { allOf, peek } from "../rows.ts";

/** Messages that just came into conversations, by conversation. */
function arrived(writes: readonly Write[]): Map<string, MessageRow[]> {
  const rows = writes.flatMap((write) =>
    write.collection === messages && write.kind === "insert"
      ? [write.row as unknown as MessageRow]
      : [],
  );
  return Map.groupBy(rows, ({ conversation_id }) => conversation_id as string);
}

function* written(writes: readonly Write[]): Iterable<ConversationRow> {
  for (const write of writes) {
    if (
      write.collection !== conversations ||
      (write.kind !== "insert" && write.kind !== "update")
    ) {
      continue;
    }
    yield write.row as unknown as ConversationRow;
  }
}

export const sequences: Invariant = {
  name: "a conversation's places are 1, 2, 3 without gap or double",
  watch() {
    const counts = new Map<string, number>();
    return {
      *commit(engine, writes) {
        for (const [conversation_id, rows] of arrived(writes)) {
          for (const { id, sequence } of rows.toSorted((a, b) => a.sequence - b.sequence)) {
            const next = (counts.get(conversation_id) ?? 0) + 1;
            counts.set(conversation_id, next);
            if (sequence !== next) {
              const says = `${engine} gave ${id} place ${sequence} in ${conversation_id}, where ${next} is next`;
              yield { about: [id, conversation_id], says };
            }
          }
        }
        for (const { id, message_count } of written(writes)) {
          const count = counts.get(id) ?? 0;
          if (message_count !== count) {
            yield { about: [id], says: `${id} has ${count} messages and counts ${message_count}` };
          }
        }
      },
    };
  },
};

export const unread: Invariant = {
  name: "a conversation counts what is unread",
  watch({ desk }) {
    const counts = new Map<string, number>();
    return {
      *commit(_engine, writes) {
        const inbound = arrived(
          writes.filter((write) => "row" in write && write.row["direction"] === "inbound"),
        );
        for (const row of written(writes)) {
          const fresh = inbound.get(row.id)?.length ?? 0;
          const expected = (counts.get(row.id) ?? 0) + fresh;
          counts.set(row.id, row.unread_count);
          // Somebody may have read it just before these came, or between them.
          const wasRead = desk.reading.has(row.id) && row.unread_count <= fresh;
          if (row.unread_count !== expected && !wasRead) {
            yield {
              about: [row.id],
              says: `${row.id} has ${expected} unread messages and counts ${row.unread_count}`,
            };
          }
          if ((row.unread === true) !== row.unread_count > 0) {
            yield {
              about: [row.id],
              says: `${row.id} counts ${row.unread_count} and is unread: ${String(row.unread)}`,
            };
          }
        }
      },
    };
  },
};

export const snoozes: Invariant = {
  name: "a snoozed conversation is open again when its time has come, and not before",
  watch({ ground, desk, clock, isSkewed, registry }) {
    const asleep = new Map<string, number>();
    const blur = isSkewed ? 15_000 : 0;
    return {
      *commit(engine, writes) {
        const came = arrived(writes);
        for (const { id, status, snoozed_until, contact_id } of written(writes)) {
          const until = asleep.get(id);
          asleep.delete(id);
          if (status === "snoozed" && snoozed_until !== null) {
            asleep.set(id, snoozed_until);
            if (peek(ground, jobByName, ["wake", id]).length > 0) continue;
            yield { about: [id], says: `${engine} snoozed ${id}, and no job is to wake it` };
          } else if (status === "open" && until !== undefined) {
            const isAsked = desk.opening.has(id) || came.has(id) || registry.isErased(contact_id);
            if (isAsked || clock.now() >= until - blur) continue;
            yield { about: [id], says: `${engine} woke ${id} ${until - clock.now()} ms too early` };
          }
        }
      },
      async end() {
        return allOf(ground, conversations).flatMap(({ id, status, snoozed_until }) =>
          status === "snoozed" || snoozed_until !== null
            ? [{ about: [id], says: `${id} is still ${status}` }]
            : [],
        );
      },
    };
  },
};
