import { agentSessions, type AgentSessionRow } from "./rows.ts";
import { type RunRow, runs } from "./runs/rows.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import type { Progress } from "./turn-rows.ts";

interface Worked {
  readonly run: Seen<RunRow>;
  readonly session: Seen<AgentSessionRow> | null;
}

/** Keeps what a turn has done and what that took, whatever becomes of it: done again it would be done twice, and on nobody's account. */
export function keepProgress(
  tx: Tx,
  { run, session }: Worked,
  { steps, calls, usage }: Progress,
): void {
  if (session !== null) {
    tx.update(agentSessions, session, {
      tokens: session.tokens + spent(run, usage),
      updated_at: tx.now,
    });
  }
  tx.update(runs, run, { steps, calls, ...usage });
}

/** What models took since the run was last written. */
export function spent(run: RunRow, { input_tokens, output_tokens }: Progress["usage"]): number {
  return input_tokens + output_tokens - run.input_tokens - run.output_tokens;
}
