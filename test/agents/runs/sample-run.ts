/** Parts of a run. */
import type { RunStep } from "../../../src/agents/runs/step-types.ts";
import type { ActionCall } from "../../../src/agents/runs/types.ts";

export const call: ActionCall = {
  id: "call_1",
  action: "refund",
  input: { n: 1 },
  status: "pending",
  output: null,
  error: null,
};

export const step: RunStep = {
  type: "model",
  name: "answer",
  input: "in",
  output: "out",
  error: "slow",
  started_at: "2026-01-01T00:00:00.000Z",
  duration_ms: 5,
};
