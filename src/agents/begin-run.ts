import type { DrawId } from "../kernel/index.ts";
import { type RunRow, runs } from "./runs/rows.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

type Begun = Pick<
  RunRow,
  "agent_id" | "agent_revision" | "playbook_id" | "conversation_id" | "trigger"
>;
type Cause = Pick<RunRow, "message_ids" | "heard"> | Pick<RunRow, "request">;

/** Begins a run: because of what the contact wrote, or of what a trigger asks for. The conversation's next turn takes it up. */
export function beginRun(tx: Tx, drawId: DrawId, run: Begun & Cause): Seen<RunRow> {
  return tx.insert(runs, {
    id: drawId("run"),
    message_ids: [],
    heard: 0,
    request: null,
    ...run,
    status: "running",
    open: true,
    resumed: false,
    steps: [],
    calls: [],
    result: null,
    input_tokens: 0,
    output_tokens: 0,
    model_calls: 0,
    approve_by: null,
    created_at: tx.now,
    finished_at: null,
  });
}
