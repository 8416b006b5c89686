import type { Seen } from "../../ports/index.ts";
import type { Tx } from "../../store/index.ts";
import { openByTrigger, type RunRow } from "./rows.ts";

/** The maximum number of open runs of a conversation that are read at once. */
export const maxOpenRuns = 50;

/**
 * Returns the open runs of a conversation that answer messages, also if more other runs are open
 * than a turn reads at once. An answer that was not found would be given by a second run, which
 * makes the calls of the first one again.
 */
export function openAnswers(tx: Tx, conversation_id: string): Promise<readonly Seen<RunRow>[]> {
  return openRunsOf(tx, [
    [conversation_id, "inbound", false],
    [conversation_id, "handback", false],
  ]);
}

/**
 * Returns the open runs of a conversation that call a single action, oldest first. They have no
 * playbook.
 */
export function openActions(tx: Tx, conversation_id: string): Promise<readonly Seen<RunRow>[]> {
  return openRunsOf(tx, [
    [conversation_id, "api", false, null],
    [conversation_id, "api", true, null],
  ]);
}

type Key = readonly [string, RunRow["trigger"], resumed: boolean, ...playbook_id: null[]];

async function openRunsOf(tx: Tx, keys: readonly Key[]): Promise<readonly Seen<RunRow>[]> {
  const lists = keys.map((key) => tx.list(openByTrigger, key, maxOpenRuns));
  return (await Promise.all(lists)).flat().toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
