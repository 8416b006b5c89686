import { runs } from "../../src/agents/runs/rows.ts";
import type { ActionCall } from "../../src/agents/runs/types.ts";
import { attempts } from "../../src/messages/rows.ts";
import type { Write } from "../../src/ports/storage.ts";

/** What engines call after they have recorded the call. */
export const recordedCallees = ["carrier", "action"] as const;
export type RecordedCallee = (typeof recordedCallees)[number];

/** Returns what an engine calls after a commit, if the commit records the call. */
export function calleesRecordedIn(writes: readonly Write[]): readonly RecordedCallee[] {
  return recordedCallees.filter((callee) => writes.some(records[callee]));
}

const records: Readonly<Record<RecordedCallee, (write: Write) => boolean>> = {
  carrier: ({ kind, collection }) => kind === "insert" && collection === attempts,
  action: (write) =>
    write.kind === "update" &&
    write.collection === runs &&
    // The rows of this collection are runs.
    (write.row["calls"] as readonly ActionCall[]).some(({ status }) => status === "pending"),
};
