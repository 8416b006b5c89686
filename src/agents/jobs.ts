import type { JobTable } from "../queue/index.ts";
import { background } from "../store/index.ts";
import type { AgentRuntime } from "./agent-runtime.ts";
import { timeOutQueue } from "./handling/hand-off.ts";
import { runTurn } from "./turns/run-turn.ts";

export const agentJobs: Pick<JobTable<AgentRuntime>, "turn" | "queue-timeout"> = {
  turn: runTurn,
  "queue-timeout":
    ({ hostPolicies, services }) =>
    (claim) =>
      hostPolicies.commitWithVerdicts(
        claim,
        (tx, hostVerdicts) => timeOutQueue(tx, claim, { services, hostVerdicts }),
        background,
      ),
};
