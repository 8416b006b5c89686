import { agentById } from "./rows.ts";
import { type RunOfAgent, runOfAgentSchema } from "./types.ts";
import { runResource } from "./runs/resource.ts";
import { runById } from "./runs/rows.ts";
import type { Run } from "./runs/types.ts";
import { notFound } from "../kernel/index.ts";
import type { Query } from "../operations/index.ts";

export const getRun: Query<RunOfAgent, Run> = {
  kind: "query",
  name: "agents.run",
  input: () => runOfAgentSchema,
  async run(reads, { id, run_id }) {
    const [agent, run] = await Promise.all([
      reads.get(agentById, [id]),
      reads.get(runById, [run_id]),
    ]);
    if (agent === undefined) throw notFound("agent");
    if (run?.agent_id !== agent.id) throw notFound("run");
    return runResource(run);
  },
};
