import { contactById } from "../../../src/contacts/rows.ts";
import { type ConversationRow, conversations } from "../../../src/conversations/rows.ts";
import type { Conversation } from "../../../src/conversations/types.ts";
import { events, type EventRow } from "../../../src/events/rows.ts";
import type { Write } from "../../../src/ports/storage.ts";
import type { Invariant } from "../invariant.ts";
import { peek } from "../rows.ts";

/** What is decided of a conversation, and not merely comes to pass in it: that is told each time. */
function decided(row: ConversationRow): string {
  const {
    status,
    handler,
    assignee_id,
    labels,
    priority,
    snoozed_until,
    opt_out_suspected,
    metadata,
    closed_at,
  } = row;
  const times = [snoozed_until, closed_at].map((time) =>
    time === null ? null : new Date(time).toISOString(),
  );
  return JSON.stringify([
    status,
    handler,
    assignee_id,
    labels,
    priority,
    opt_out_suspected === true,
    metadata,
    ...times,
  ]);
}

function told({
  status,
  handler,
  assignee,
  labels,
  priority,
  opt_out_suspected,
  metadata,
  ...times
}: Conversation): string {
  const { snoozed_until, closed_at } = times;
  const id = assignee?.id ?? null;
  return JSON.stringify([
    status,
    handler,
    id,
    labels,
    priority,
    opt_out_suspected,
    metadata,
    snoozed_until,
    closed_at,
  ]);
}

function eventsIn(writes: readonly Write[]): EventRow[] {
  const rows = writes.flatMap((write) =>
    write.collection === events && write.kind === "insert"
      ? [write.row as unknown as EventRow]
      : [],
  );
  return rows.filter(({ type }) => /^conversation\.(created|updated|closed)$/.test(type));
}

export const conversationEvents: Invariant = {
  name: "events tell how conversations stand",
  watch({ ground }) {
    const last = new Map<string, Conversation>();
    /** An erasure tells of nothing, and what is done to a conversation that it comes to later is gone with it. */
    const isThere = (key: readonly string[]): boolean => peek(ground, contactById, key).length > 0;
    return {
      *commit(engine, writes) {
        for (const { type, data, account_id, mode, contact_id } of eventsIn(writes)) {
          const { conversation } = data as { conversation: Conversation };
          if (!isThere([account_id, mode, contact_id ?? ""])) continue;
          const { id, status } = conversation;
          const before = last.get(id)?.status;
          last.set(id, conversation);
          const expected =
            before === undefined
              ? "created"
              : status === "closed" && before !== "closed"
                ? "closed"
                : "updated";
          if (type !== `conversation.${expected}`) {
            const was = before ?? "not there";
            yield {
              about: [id],
              says: `${engine} told ${type} of ${id}, which was ${was} and is ${status}`,
            };
          }
        }
        for (const write of writes) {
          if (
            write.collection !== conversations ||
            (write.kind !== "insert" && write.kind !== "update")
          ) {
            continue;
          }
          const row = write.row as unknown as ConversationRow;
          if (!isThere([row.account_id, row.mode, row.contact_id])) continue;
          const known = last.get(row.id);
          if (known !== undefined && told(known) === decided(row)) continue;
          const says = `${row.id} is ${decided(row)}, and events say ${known === undefined ? "nothing" : told(known)}`;
          yield { about: [row.id], says: `${engine}: ${says}` };
        }
      },
    };
  },
};
