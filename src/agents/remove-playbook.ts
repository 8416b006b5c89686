import { agentBySlot } from "./rows.ts";
import { mostAgents } from "./rules.ts";
import { calledBy } from "./playbooks/graph.ts";
import { playbookBySlot, playbooks } from "./playbooks/rows.ts";
import { mostPlaybooks } from "./playbooks/rules.ts";
import { type ById, byIdSchema, TidingsError } from "../kernel/index.ts";
import type { Command } from "../operations/index.ts";
import { playbookToChange } from "./find-playbook.ts";

/**
 * Nobody begins it from this commit on; who is in the middle of it goes on. What others rely on stays: an agent would be another one
 * without it, and nobody would have said so.
 */
export const removePlaybook: Command<ById, void> = {
  kind: "command",
  name: "playbooks.remove",
  input: () => byIdSchema,
  status: 204,
  async run(tx, { id }) {
    const playbook = await playbookToChange(tx, id);
    // Who takes it up at this moment writes it.
    const [agents, others] = await Promise.all([
      tx.list(agentBySlot, [], mostAgents),
      tx.list(playbookBySlot, [], mostPlaybooks),
    ]);
    const agent = agents.find(({ playbook_ids }) => playbook_ids.includes(playbook.id));
    if (agent !== undefined) throw inUse("An agent has the playbook.", agent.id);
    const caller = others.find(
      (each) =>
        each.enabled && each.id !== playbook.id && calledBy(each.definition).includes(playbook.id),
    );
    if (caller !== undefined) throw inUse("Another playbook calls it.", caller.id);
    tx.remove(playbooks, playbook);
  },
};

function inUse(detail: string, conflictingId: string): TidingsError {
  return new TidingsError("conflict", detail, { conflictingId });
}
