import { runs } from "../../../src/agents/runs/rows.ts";
import { contacts } from "../../../src/contacts/rows.ts";
import { firstNumber, isOutsideThread, lastSequence } from "../../../src/conversations/places.ts";
import {
  conversationById,
  conversations,
  type ConversationRow,
} from "../../../src/conversations/rows.ts";
import { events } from "../../../src/events/rows.ts";
import { mediumOf } from "../../../src/kernel/channels.ts";
import { messages, type MessageRow } from "../../../src/messages/rows.ts";
import type { Write } from "../../../src/ports/storage.ts";
import { jobByName } from "../../../src/queue/jobs/rows.ts";
import type { Invariant } from "../invariant.ts";
import { allRows, insertedRows, readRows, removedIds, writtenRows } from "../rows.ts";
import { reopenHours } from "../settings.ts";

const windowMs = reopenHours * 3_600_000;

/** The messages that a commit inserted, by conversation. */
function newMessages(writes: readonly Write[]): Map<string, MessageRow[]> {
  return Map.groupBy(
    insertedRows(writes, messages),
    ({ conversation_id }) => conversation_id as string,
  );
}
export const reopenWindow: Invariant = {
  name: "An inbound message reopens a closed conversation within the reopen window, and starts a new one after it.",
  check({ operators }) {
    /** Conversations as of the previous commit. */
    const known = new Map<string, ConversationRow>();
    const currentOf = ({ contact_id, channel }: MessageRow): ConversationRow | undefined =>
      [...known.values()].find(
        (each) =>
          each.current === true &&
          each.contact_id === contact_id &&
          each.medium === mediumOf(channel),
      );
    return {
      *commit(engine, writes) {
        const all = insertedRows(writes, messages);
        // A merge in the same commit may have changed the contact's current conversation first.
        const checked = writtenRows(writes, contacts).length > 0 ? [] : all;
        const triggered = new Set(
          insertedRows(writes, runs).flatMap(({ request, conversation_id }) =>
            request === null ? [] : conversation_id,
          ),
        );
        for (const message of checked) {
          const { id, contact_id, conversation_id, created_at, from } = message;
          const last = currentOf(message);
          if (last?.status !== "closed" || last.closed_at === null) continue;
          // Another message or an operator may have opened a conversation just before.
          const isAlone = all.filter((each) => each.contact_id === contact_id).length === 1;
          const isRequested = [last.id, contact_id, from].some((id) => operators.opening.has(id));
          // The operator may have named a contact that was merged into this one.
          const isTriggered = triggered.has(conversation_id);
          if (message.direction === "outbound" || !isAlone || isRequested || isTriggered) continue;
          const age = created_at - last.closed_at;
          if (age < windowMs === (conversation_id === last.id)) continue;
          const effect = conversation_id === last.id ? "reopened it" : `started ${conversation_id}`;
          yield {
            about: [last.id, id, conversation_id],
            description: `${engine}: ${last.id} had been closed for ${age} ms when ${id} came in, which ${effect}`,
          };
        }
        for (const row of writtenRows(writes, conversations)) known.set(row.id, row);
        for (const id of removedIds(writes, conversations)) known.delete(id);
      },
    };
  },
};

export const sequencesGrow: Invariant = {
  name: "The messages of a conversation get growing numbers, each once: a message for later gets one when it is written, and another when it takes its place.",
  check() {
    const counts = new Map<string, number>();
    /** The last number of each conversation. */
    const numbers = new Map<string, number>();
    /** The numbers that each message has got. */
    const given = new Map<string, ReadonlySet<number>>();
    return {
      *commit(engine, writes) {
        for (const [conversation_id, rows] of newMessages(writes)) {
          counts.set(conversation_id, (counts.get(conversation_id) ?? 0) + rows.length);
        }
        const fresh: { id: string; conversation_id: string; number: number }[] = [];
        for (const row of writtenRows(writes, messages)) {
          const { id, conversation_id } = row;
          const own = isOutsideThread(row) ? [firstNumber(row)] : [firstNumber(row), row.sequence];
          const all = new Set([...(given.get(id) ?? []), ...own]);
          const added = [...all].slice(given.get(id)?.size ?? 0);
          fresh.push(...added.map((number) => ({ id, conversation_id, number })));
          given.set(id, all);
        }
        for (const { id, conversation_id, number } of fresh.toSorted(
          (a, b) => a.number - b.number,
        )) {
          const last = numbers.get(conversation_id) ?? 0;
          numbers.set(conversation_id, number);
          // A message that is released and deferred again in one commit leaves its number unused.
          if (number <= last) {
            const description = `${engine} gave ${id} number ${number} in ${conversation_id} after ${last}`;
            yield { about: [id, conversation_id], description };
          }
        }
        for (const row of writtenRows(writes, conversations)) {
          const { id, message_count } = row;
          const last = numbers.get(id) ?? 0;
          if (lastSequence(row) < last) {
            const description = `${id} counts up to ${lastSequence(row)}, but gave number ${last}`;
            yield { about: [id], description };
          }
          const count = counts.get(id) ?? 0;
          if (message_count !== count) {
            yield {
              about: [id],
              description: `${id} has ${count} messages, but counts ${message_count}`,
            };
          }
        }
      },
    };
  },
};

export const unreadCounted: Invariant = {
  name: "A conversation's unread count is the number of inbound messages since it was last read.",
  check({ operators }) {
    const counts = new Map<string, number>();
    return {
      *commit(_engine, writes) {
        const inbound = newMessages(
          writes.filter((write) => "row" in write && write.row["direction"] === "inbound"),
        );
        for (const row of writtenRows(writes, conversations)) {
          const fresh = inbound.get(row.id)?.length ?? 0;
          const expected = (counts.get(row.id) ?? 0) + fresh;
          counts.set(row.id, row.unread_count);
          // An operator may have read it just before these messages, or between them.
          const wasRead = operators.markingRead.has(row.id) && row.unread_count <= fresh;
          const wasMarked = operators.markingUnread.has(row.id) && row.unread_count === 1 + fresh;
          if (row.unread_count !== expected && !wasRead && !wasMarked) {
            yield {
              about: [row.id],
              description: `${row.id} has ${expected} unread messages, but counts ${row.unread_count}`,
            };
          }
          if ((row.unread === true) !== row.unread_count > 0) {
            yield {
              about: [row.id],
              description: `${row.id} counts ${row.unread_count} unread messages, but its unread flag is ${String(row.unread)}`,
            };
          }
        }
      },
    };
  },
};

export const mergeKeepsActive: Invariant = {
  name: "A merge keeps the survivor's conversation if it is active.",
  check({ database, operators }) {
    /** Active current conversations as of the previous commit, by id. */
    const active = new Map<string, ConversationRow>();
    return {
      *commit(engine, writes) {
        for (const { id, merged_into } of writtenRows(writes, contacts)) {
          if (merged_into === null) continue;
          const own = [...active.values()].filter(({ contact_id }) => contact_id === merged_into);
          for (const { account_id, mode, id: kept } of own) {
            const [after] = readRows(database, conversationById, [account_id, mode, kept]);
            if (after === undefined || after.current === true) continue;
            // Somebody may have closed it in the same commit.
            if (operators.closing.has(kept)) continue;
            const description = `${engine} ended ${kept} of ${merged_into}, with which ${id} was merged`;
            yield { about: [kept, id, merged_into], description };
          }
        }
        for (const row of writtenRows(writes, conversations)) {
          const isActive = row.current === true && row.status !== "closed";
          if (isActive) active.set(row.id, row);
          else active.delete(row.id);
        }
        for (const id of removedIds(writes, conversations)) active.delete(id);
      },
    };
  },
};

export const snoozeEndsOnTime: Invariant = {
  name: "A snoozed conversation opens when its time has come, and not before, unless something opens it.",
  check({ database, operators, clock, clocksDiffer, history }) {
    const snoozed = new Map<
      string,
      Pick<ConversationRow, "handler"> & { readonly until: number }
    >();
    const toleranceMs = clocksDiffer ? 15_000 : 0;
    return {
      *commit(engine, writes) {
        const inserted = newMessages(writes);
        const handedOff = new Set(
          insertedRows(writes, events).flatMap(({ type, conversation_id }) =>
            type === "conversation.handoff" ? [conversation_id] : [],
          ),
        );
        // The contact may wait in a conversation that the merge has closed.
        const survivors = new Set(
          writtenRows(writes, contacts).map(({ merged_into }) => merged_into),
        );
        for (const row of writtenRows(writes, conversations)) {
          const { id, status, snoozed_until, contact_id, handler } = row;
          const before = snoozed.get(id);
          snoozed.delete(id);
          if (status === "snoozed" && snoozed_until !== null) {
            snoozed.set(id, { handler, until: snoozed_until });
            if (readRows(database, jobByName, ["wake", id]).length > 0) continue;
            yield { about: [id], description: `${engine} snoozed ${id} without a job to wake it` };
          } else if (status === "open" && before !== undefined) {
            const { until } = before;
            const isGivenToAgent =
              handler === "ai" && (before.handler !== "ai" || operators.assigning.has(id));
            const isExplained =
              isGivenToAgent ||
              operators.opening.has(id) ||
              inserted.has(id) ||
              handedOff.has(id) ||
              survivors.has(contact_id) ||
              history.isErased(contact_id);
            if (isExplained || clock.now() >= until - toleranceMs) continue;
            yield {
              about: [id],
              description: `${engine} opened ${id} ${until - clock.now()} ms too early`,
            };
          }
        }
      },
      async end() {
        return allRows(database, conversations).flatMap(({ id, status, snoozed_until }) =>
          status === "snoozed" || snoozed_until !== null
            ? [{ about: [id], description: `${id} is still ${status} at the end` }]
            : [],
        );
      },
    };
  },
};
