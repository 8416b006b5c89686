import { runs, type RunRow } from "../../../src/agents/runs/rows.ts";
import type { Run } from "../../../src/agents/runs/types.ts";
import { events } from "../../../src/events/rows.ts";
import type { Invariant } from "../invariant.ts";
import { allRows, insertedRows, removedIds, writtenRows } from "../rows.ts";

const isUnderWay = (status: RunRow["status"]): boolean =>
  status === "running" || status === "awaiting_approval";

export const runEndsOnce: Invariant = {
  name: "Every run ends once, and one event reports its end.",
  check({ database }) {
    const ended = new Map<string, string>();
    const reported = new Set<string>();
    return {
      *commit(engine, writes) {
        for (const { id, status, finished_at, conversation_id } of writtenRows(writes, runs)) {
          const about = [id, conversation_id];
          const before = ended.get(id);
          if (before !== undefined && before !== status) {
            yield {
              about,
              description: `${engine} set ${id} to ${status} after it had ended as ${before}`,
            };
          }
          if (isUnderWay(status) !== (finished_at === null)) {
            yield {
              about,
              description: `${id} is ${status}, but finished at ${finished_at ?? "no time"}`,
            };
          }
          if (!isUnderWay(status)) ended.set(id, status);
        }
        const removed = new Set(removedIds(writes, runs));
        for (const { type, data } of insertedRows(writes, events)) {
          if (type !== "agent.run.completed") continue;
          const { id, status } = (data as { run: Run }).run;
          if (reported.has(id)) {
            yield { about: [id], description: `${engine} reported the end of ${id} twice` };
          }
          // A group of commands may end a run and then erase it. Its commit only removes the row.
          const isRemovedUnended = !ended.has(id) && removed.has(id) && !isUnderWay(status);
          if (ended.get(id) !== status && !isRemovedUnended) {
            yield {
              about: [id],
              description: `${engine} reported ${id} as ${status}, but it is ${ended.get(id) ?? "under way"}`,
            };
          }
          reported.add(id);
        }
        for (const { id, status, conversation_id } of writtenRows(writes, runs)) {
          if (isUnderWay(status) || reported.has(id)) continue;
          yield {
            about: [id, conversation_id],
            description: `${engine} ended ${id} as ${status} without an event`,
          };
        }
      },
      async end() {
        return allRows(database, runs)
          .filter(({ status }) => isUnderWay(status))
          .map(({ id, status, conversation_id }) => ({
            about: [id, conversation_id],
            description: `${id} stays ${status}`,
          }));
      },
    };
  },
};

export const waitingRunIsReported: Invariant = {
  name: "An event reports each time that a run begins to wait for an approval.",
  check() {
    const waiting = new Set<string>();
    return {
      *commit(engine, writes) {
        const reported = new Set(
          insertedRows(writes, events).flatMap(({ type, data }) =>
            type === "agent.run.awaiting_approval" && "run_id" in data ? [data.run_id] : [],
          ),
        );
        for (const { id, status, conversation_id } of writtenRows(writes, runs)) {
          if (status !== "awaiting_approval") {
            waiting.delete(id);
          } else if (!waiting.has(id)) {
            waiting.add(id);
            if (reported.has(id)) continue;
            yield {
              about: [id, conversation_id],
              description: `${engine} lets ${id} wait for an approval without an event`,
            };
          }
        }
      },
    };
  },
};

export const decisionIsReported: Invariant = {
  name: "An event reports each decision about a call, once.",
  check() {
    const reported = new Set<string>();
    return {
      *commit(engine, writes) {
        for (const { type, data } of insertedRows(writes, events)) {
          if (type !== "agent.run.approval_decided" || !("call_id" in data)) continue;
          const call = String(data.call_id);
          if (reported.has(call)) {
            yield {
              about: [call],
              description: `${engine} reported the decision about ${call} twice`,
            };
          }
          reported.add(call);
        }
        for (const { id, steps, conversation_id } of writtenRows(writes, runs)) {
          for (const call of decidedIn(steps)) {
            if (reported.has(call)) continue;
            yield {
              about: [id, conversation_id],
              description: `${engine} decided about ${call} without an event`,
            };
          }
        }
      },
    };
  },
};

export const approvedCallIsMade: Invariant = {
  name: "A run that has ended has made every call that a person approved.",
  check: () => ({
    *commit(engine, writes) {
      for (const { id, status, calls, conversation_id } of writtenRows(writes, runs)) {
        if (status !== "completed" && status !== "handed_off") continue;
        for (const call of calls.filter((each) => each.status === "approved")) {
          yield {
            about: [id, conversation_id],
            description: `${engine} ended ${id} as ${status} without the approved ${call.id}`,
          };
        }
      }
    },
  }),
};

/** The ids of the calls that the steps say were decided. A redaction removes them. */
const decidedIn = (steps: RunRow["steps"]): string[] =>
  steps.flatMap(({ type, input }) =>
    type === "approval" && input !== null ? [(input as { call_id: string }).call_id] : [],
  );
