import { iso, isoOrNull } from "../../kernel/index.ts";
import type { RunRow } from "./rows.ts";
import type { Run } from "./types.ts";

export function runResource(row: RunRow): Run {
  const {
    id,
    agent_id,
    agent_revision,
    playbook_id,
    conversation_id,
    trigger,
    message_ids,
    status,
    steps,
  } = row;
  const { result, input_tokens, output_tokens, model_calls, created_at, finished_at } = row;
  return {
    id,
    agent_id,
    agent_version: agent_revision,
    playbook_id,
    conversation_id,
    trigger: { type: trigger, message_ids: [...message_ids] },
    status,
    steps: [...steps],
    result,
    usage: { input_tokens, output_tokens, model_calls },
    created_at: iso(created_at),
    finished_at: isoOrNull(finished_at),
  };
}

/** A run as its event tells of it: the words and facts of its steps are in the run alone. */
export function toldRun(row: RunRow): Run {
  const run = runResource(row);
  return { ...run, steps: run.steps.map((step) => ({ ...step, input: null, output: null })) };
}
