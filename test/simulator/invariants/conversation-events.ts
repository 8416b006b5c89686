import { contactById } from "../../../src/contacts/rows.ts";
import { conversations, type ConversationRow } from "../../../src/conversations/rows.ts";
import type { Conversation } from "../../../src/conversations/types.ts";
import { events } from "../../../src/events/rows.ts";
import type { Invariant } from "../invariant.ts";
import { insertedRows, readRows, writtenRows } from "../rows.ts";

/** The fields of which every change must have an event, from the stored row. */
function fieldsOfRow(row: ConversationRow): string {
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

/** The same fields from an event's payload. */
function fieldsOfEvent({
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

export const conversationEventsMatch: Invariant = {
  name: "A conversation's events report its current state, with the type that fits the change.",
  check({ database }) {
    const last = new Map<string, Conversation>();
    /** An erasure and later changes to an erased contact's conversations have no events. */
    const hasContact = (key: readonly string[]): boolean =>
      readRows(database, contactById, key).length > 0;
    return {
      *commit(engine, writes) {
        for (const { type, data, account_id, mode, contact_id } of insertedRows(writes, events)) {
          if (!/^conversation\.(created|updated|closed)$/.test(type)) continue;
          const { conversation } = data as { conversation: Conversation };
          if (!hasContact([account_id, mode, contact_id ?? ""])) continue;
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
            yield {
              about: [id],
              description: `${engine} wrote ${type} for ${id}, which went from ${before ?? "nothing"} to ${status}`,
            };
          }
        }
        for (const row of writtenRows(writes, conversations)) {
          if (!hasContact([row.account_id, row.mode, row.contact_id])) continue;
          const known = last.get(row.id);
          if (known !== undefined && fieldsOfEvent(known) === fieldsOfRow(row)) continue;
          const reported = known === undefined ? "nothing" : fieldsOfEvent(known);
          yield {
            about: [row.id],
            description: `${engine}: ${row.id} is ${fieldsOfRow(row)}, but its events report ${reported}`,
          };
        }
      },
    };
  },
};
