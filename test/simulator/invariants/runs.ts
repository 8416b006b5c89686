import { events, type EventRow } from "../../../src/events/rows.ts";
import { type RunRow, runs } from "../../../src/agents/runs/rows.ts";
import type { Run } from "../../../src/agents/runs/types.ts";
import type { Write } from "../../../src/ports/storage.ts";
import type { Invariant } from "../invariant.ts";
import { allOf } from "../rows.ts";

/** Runs as they were just written. */
export function runsIn(writes: readonly Write[]): RunRow[] {
  return writes.flatMap((write) =>
    write.collection === runs && (write.kind === "insert" || write.kind === "update")
      ? [write.row as unknown as RunRow]
      : [],
  );
}

const isUnderWay = (status: RunRow["status"]): boolean =>
  status === "running" || status === "awaiting_approval";

export const endsOnce: Invariant = {
  name: "every run ends, and is told of once",
  watch({ ground }) {
    const ended = new Map<string, string>();
    const told = new Set<string>();
    return {
      *commit(engine, writes) {
        for (const { id, status, finished_at, conversation_id } of runsIn(writes)) {
          const about = [id, conversation_id];
          const before = ended.get(id);
          if (before !== undefined && before !== status) {
            yield { about, says: `${engine} made ${id} ${status}, which had ended as ${before}` };
          }
          if (isUnderWay(status) !== (finished_at === null)) {
            yield { about, says: `${id} is ${status} and finished at ${finished_at ?? "no time"}` };
          }
          if (!isUnderWay(status)) ended.set(id, status);
        }
        for (const write of writes) {
          if (write.collection !== events || write.kind !== "insert") continue;
          const { type, data } = write.row as unknown as EventRow;
          if (type !== "agent.run.completed") continue;
          const { id, status } = (data as { run: Run }).run;
          if (told.has(id)) yield { about: [id], says: `${engine} told of the end of ${id} twice` };
          if (ended.get(id) !== status) {
            yield {
              about: [id],
              says: `${engine} told that ${id} ${status}, and it is ${ended.get(id) ?? "under way"}`,
            };
          }
          told.add(id);
        }
        for (const { id, status, conversation_id } of runsIn(writes)) {
          if (isUnderWay(status) || told.has(id)) continue;
          yield {
            about: [id, conversation_id],
            says: `${engine} ended ${id} as ${status}, and told nobody`,
          };
        }
      },
      async end() {
        return allOf(ground, runs)
          .filter(({ status }) => isUnderWay(status))
          .map(({ id, status, conversation_id }) => ({
            about: [id, conversation_id],
            says: `${id} stays ${status}`,
          }));
      },
    };
  },
};
