import { agentById } from "../domain/agents/rows.ts";
import { type RunOfAgent, runOfAgentSchema } from "../domain/agents/types.ts";
import { runResource } from "../domain/runs/resource.ts";
import { runById } from "../domain/runs/rows.ts";
import type { Run } from "../domain/runs/types.ts";
import { notFound } from "../errors.ts";
import type { Query } from "../operation.ts";

export const getRun: Query<RunOfAgent, Run> = {
  kind: "query",
  name: "agents.run",
  input: () => runOfAgentSchema,
  async run(reads, { id, run_id }, { scope: { account_id, mode } }) {
    const [agent, run] = await Promise.all([
      reads.get(agentById, [account_id, mode, id]),
      reads.get(runById, [account_id, mode, run_id]),
    ]);
    if (agent === undefined) throw notFound("agent");
    if (run?.agent_id !== agent.id) throw notFound("run");
    return runResource(run);
  },
};
