import { firstNumber } from "../../../src/conversations/places.ts";
import { sendClassOf } from "../../../src/messages/job-orders.ts";
import {
  attempts,
  messages,
  outbox,
  scheduledInConversation,
  type MessageRow,
} from "../../../src/messages/rows.ts";
import { jobClasses } from "../../../src/queue/jobs/classes.ts";
import { classOf, decodeLane } from "../../../src/queue/jobs/lane.ts";
import { jobByName, jobs, type JobRow } from "../../../src/queue/jobs/rows.ts";
import type { Invariant, Violation } from "../invariant.ts";
import { allRows, handOvers, readRows, writtenRows } from "../rows.ts";

/** An engine that stalled and lost its lease must notice that before it sends on. */
export const leaseHolderSends: Invariant = {
  name: "Only the engine that holds the lease on a conversation hands over its messages.",
  check({ database }) {
    const holders = new Map<string, string>();
    return {
      *commit(engine, writes) {
        for (const write of writes) {
          if (write.collection !== jobs || (write.kind !== "insert" && write.kind !== "update")) {
            continue;
          }
          const { kind, key, leased } = write.row as unknown as JobRow;
          // A job that is armed and leased in one commit is inserted with its lease.
          const isTaken = leased && (write.kind === "insert" || write.changed.includes("fence"));
          if (kind === "send" && isTaken) holders.set(key, engine);
        }
        for (const { message } of handOvers(database, writes)) {
          const { id, conversation_id } = message;
          const holder = holders.get(conversation_id);
          if (holder === engine) continue;
          yield {
            about: [id, conversation_id],
            description: `${engine} handed over ${id}, but ${holder ?? "no engine"} holds the lease on its conversation`,
          };
        }
      },
    };
  },
};

/**
 * A message that waits for a retry holds up those after it. A message that was ever scheduled,
 * ambiguous or undelivered does not, and has no place in the order.
 */
export const messagesInOrder: Invariant = {
  name: "The messages of a conversation are handed over in the order in which they were accepted.",
  check: ({ database, clients, carrier }) => {
    /** Messages that have no place in the order. */
    const loose = new Set<string>();
    const placed = ({ id }: MessageRow): boolean => !loose.has(id);
    return {
      *commit(engine, writes) {
        for (const { id, status } of writtenRows(writes, messages)) {
          if (status === "scheduled" || status === "ambiguous") loose.add(id);
        }
        // A route may send it again, after others that were handed over meanwhile.
        for (const { message_id, outcome } of writtenRows(writes, attempts)) {
          if (outcome === "ambiguous" || outcome === "undelivered") loose.add(message_id);
        }
        for (const { message } of handOvers(database, writes)) {
          if (!placed(message)) continue;
          const ahead = readRows(database, outbox, [message.conversation_id]).find(
            (each) => each.sequence < message.sequence && placed(each),
          );
          if (ahead !== undefined) {
            const description = `${engine} handed over ${message.id} before ${ahead.id}, which comes first and is ${ahead.status}`;
            yield { about: [message.id, ahead.id], description };
          }
        }
      },
      async end() {
        const violations: Violation[] = [];
        const all = new Map(allRows(database, messages).map((each) => [each.id as string, each]));
        const last = new Map<string, MessageRow>();
        for (const { message, number } of carrier.calls) {
          const row = all.get(message.message_id);
          if (row === undefined || number > 1 || loose.has(row.id)) continue;
          const before = last.get(row.conversation_id);
          if (before !== undefined && before.sequence > row.sequence) {
            violations.push({
              about: [before.id, row.id],
              description: `the carrier got ${before.id} before ${row.id}, which comes first`,
            });
          }
          last.set(row.conversation_id, row);
        }
        return [...violations, ...misplaced()];
      },
    };

    /** A client that waits for each answer can rely on the order of its messages. */
    function misplaced(): Violation[] {
      const answered = clients.requests.filter(({ acknowledgedAt }) => acknowledgedAt !== null);
      const rows = new Map(allRows(database, messages).map((each) => [each.id as string, each]));
      return answered.flatMap((later) =>
        answered.flatMap((earlier) => {
          const [a, b] = [rows.get(earlier.message?.id ?? ""), rows.get(later.message?.id ?? "")];
          if (a === undefined || b === undefined || a.conversation_id !== b.conversation_id) {
            return [];
          }
          const isInTurn = firstNumber(a) < firstNumber(b);
          if ((earlier.acknowledgedAt ?? Infinity) >= later.startedAt || isInTurn) return [];
          return [
            {
              about: [a.id, b.id],
              description: `${b.id} was requested after ${a.id} was acknowledged, but comes first`,
            },
          ];
        }),
      );
    }
  },
};

export const sameTimeInOrder: Invariant = {
  name: "A scheduled message is not handed over before an earlier one of its conversation that was due first or at the same time.",
  check: ({ database }) => ({
    *commit(engine, writes) {
      for (const { message } of handOvers(database, writes)) {
        const due = message.send_at;
        if (due === null) continue;
        const scheduled = readRows(database, scheduledInConversation, [message.conversation_id]);
        const ahead = scheduled.find(
          (each) => firstNumber(each) < firstNumber(message) && (each.send_at ?? Infinity) <= due,
        );
        if (ahead === undefined) continue;
        const description = `${engine} handed over ${message.id} before ${ahead.id}, which is due, too`;
        yield { about: [message.id, ahead.id], description };
      }
    },
  }),
};

/** Checked on every commit, since the next message would arm the missing job and so hide this. */
export const waitingMessagesHaveJobs: Invariant = {
  name: "A scheduled or queued message always has a job that will send it.",
  check: ({ database, history }) => ({
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
          if (name !== undefined && readRows(database, jobByName, name).length === 0) {
            yield {
              about: [id],
              description: `${engine} left ${id} ${status} without a job ${name.join(" ")}`,
            };
          }
        }
        if (write.collection === jobs && write.kind === "remove" && write.key[0] === "send") {
          const [, conversation_id = ""] = write.key;
          const [left] = readRows(database, outbox, [conversation_id]);
          // An erasure removes a contact's messages one after another. They are not sent any more.
          if (left !== undefined && !history.isErased(left.contact_id)) {
            yield {
              about: [left.id],
              description: `${engine} removed the send job of ${left.id}'s conversation, though the message is ${left.status}`,
            };
          }
        }
      }
    },
  }),
};

/** Checked on every commit, since the next message may improve the class and so hide this. */
export const urgentMessagesGoFirst: Invariant = {
  name: "A conversation's job is in the class of its best queued message, or in a better one.",
  check: ({ database }) => ({
    *commit(engine, writes) {
      const changed = new Set([
        ...writtenRows(writes, messages).map((message) => message.conversation_id),
        ...writtenRows(writes, jobs).flatMap(({ kind, key }) => (kind === "send" ? [key] : [])),
      ]);
      for (const conversation_id of changed) {
        const [job] = readRows(database, jobByName, ["send", conversation_id]);
        if (job === undefined) continue;
        const rank = jobClasses.indexOf(classOf(decodeLane(job.lane)));
        const better = readRows(database, outbox, [conversation_id]).find(
          (message) => jobClasses.indexOf(sendClassOf(message)) < rank,
        );
        if (better !== undefined) {
          yield {
            about: [better.id],
            description: `${engine} left ${better.id} waiting in the lane ${job.lane}`,
          };
        }
      }
    },
  }),
};
