import type { AgentRuntime } from "./options.ts";
import { timeOutQueue } from "./time-out-queue.ts";
import type { JobTable } from "../queue/index.ts";
import { runTurn } from "./run-turn.ts";

export const agentJobs: Pick<JobTable<AgentRuntime>, "turn" | "queue-timeout"> = {
  turn: runTurn,
  "queue-timeout":
    ({ hostPolicies, services }) =>
    (claim) =>
      hostPolicies.commit(
        claim,
        (tx, hostOpinions) => timeOutQueue(tx, claim, { services, hostOpinions }),
        { own: true },
      ),
};
