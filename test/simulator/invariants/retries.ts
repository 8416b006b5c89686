import { attempts, messageById } from "../../../src/messages/rows.ts";
import type { Invariant } from "../invariant.ts";
import { readRows, writtenRows } from "../rows.ts";

/** The waits before the second attempt and the four that may follow, in milliseconds. */
const waitsMs = [1_000, 5_000, 30_000, 120_000, 600_000] as const;

export const retriesOnSchedule: Invariant = {
  name: "A message that its only carrier refused for now is tried six times, on schedule.",
  check: ({ database, settings: { routes } }) => {
    /** Attempts whose answers have counted as lost. They keep that time if the answers come late. */
    const lost = new Set<string>();
    return {
      *commit(engine, writes) {
        if (routes.length > 0) return;
        for (const attempt of writtenRows(writes, attempts)) {
          const { id, account_id, mode, message_id, number, outcome, error } = attempt;
          const wait = waitsMs[number - 1];
          if (outcome === "ambiguous") lost.add(id);
          if (outcome !== "rejected" || error?.permanent !== false || wait === undefined) continue;
          const about = [message_id];
          const [message] = readRows(database, messageById, [account_id, mode, message_id]);
          // A policy may deny the next attempt.
          const isGivenUp = message?.status === "failed" && message.error?.stage !== "policy";
          if (isGivenUp && message.attempts === number) {
            yield { about, description: `${engine} gave ${message_id} up after attempt ${number}` };
          }
          const { answered_at, next_attempt_at, not_before } = attempt;
          if (lost.has(id) || answered_at === null || next_attempt_at === null) continue;
          if (not_before !== null) continue;
          const waits = next_attempt_at - answered_at;
          if (waits === wait) continue;
          const description = `${engine} repeats ${message_id} after ${waits} ms instead of ${wait} ms`;
          yield { about, description };
        }
      },
    };
  },
};
