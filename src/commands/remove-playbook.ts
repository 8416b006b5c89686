import { agentBySlot } from "../domain/agents/rows.ts";
import { mostAgents } from "../domain/agents/rules.ts";
import { calledBy } from "../domain/playbooks/graph.ts";
import { playbookBySlot, playbooks } from "../domain/playbooks/rows.ts";
import { mostPlaybooks } from "../domain/playbooks/rules.ts";
import { TidingsError } from "../errors.ts";
import { type ById, byIdSchema } from "../fields.ts";
import type { Command } from "../operation.ts";
import { playbookToChange } from "./steps/playbook-to-change.ts";

/**
 * Nobody begins it from this commit on; who is in the middle of it goes on. What others rely on stays: an agent would be another one
 * without it, and nobody would have said so.
 */
export const removePlaybook: Command<ById, void> = {
  kind: "command",
  name: "playbooks.remove",
  input: () => byIdSchema,
  status: 204,
  async run(tx, { id }, { scope }) {
    const playbook = await playbookToChange(tx, scope, id);
    const own = [scope.account_id, scope.mode];
    // Who takes it up at this moment writes it.
    const [agents, others] = await Promise.all([
      tx.list(agentBySlot, own, mostAgents),
      tx.list(playbookBySlot, own, mostPlaybooks),
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
