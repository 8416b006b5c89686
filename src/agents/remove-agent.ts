import { agents } from "./rows.ts";
import { type ById, byIdSchema } from "../kernel/index.ts";
import type { Command } from "../operations/index.ts";
import { agentToChange } from "./find-agent.ts";

/** From this commit on it says nothing more: its conversations are people's when their turn comes. */
export const removeAgent: Command<ById, void> = {
  kind: "command",
  name: "agents.remove",
  input: () => byIdSchema,
  status: 204,
  async run(tx, { id }) {
    tx.remove(agents, await agentToChange(tx, id));
  },
};
