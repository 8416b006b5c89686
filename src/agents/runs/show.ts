import { iso, isoOrNull } from "../../kernel/index.ts";
import { isWaiting } from "./call-rules.ts";
import type { RunRow } from "./rows.ts";
import type { ActionCall, AwaitedCall, Run } from "./types.ts";

/** Returns the calls that wait for a decision, oldest first. */
export function callsToDecide({
  status,
  calls,
}: Pick<RunRow, "status" | "calls">): readonly ActionCall[] {
  return status === "awaiting_approval" ? calls.filter(isWaiting) : [];
}

function awaitedCall({ id: call_id, action, input }: ActionCall): AwaitedCall {
  return { call_id, action, input };
}

export function runResource(row: RunRow): Run {
  const {
    id,
    agent_id,
    agent_revision,
    playbook_id,
    conversation_id,
    trigger,
    message_ids,
    sent_message_ids,
    status,
    steps,
  } = row;
  const { result, input_tokens, output_tokens, model_calls, created_at, finished_at } = row;
  const [approval = null, ...later_approvals] = callsToDecide(row).map(awaitedCall);
  return {
    id,
    agent_id,
    agent_version: agent_revision,
    playbook_id,
    conversation_id,
    trigger: { type: trigger, message_ids: [...message_ids] },
    status,
    approval,
    later_approvals,
    steps: [...steps],
    message_ids: [...sent_message_ids],
    result,
    usage: { input_tokens, output_tokens, model_calls },
    created_at: iso(created_at),
    finished_at: isoOrNull(finished_at),
  };
}

/** Returns a run as its event contains it: without the inputs and outputs of its steps. */
export function runForEvent(row: RunRow): Run {
  const run = runResource(row);
  return { ...run, steps: run.steps.map((step) => ({ ...step, input: null, output: null })) };
}
