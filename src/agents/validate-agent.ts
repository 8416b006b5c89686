import { playbookById, playbooks } from "./playbooks/rows.ts";
import type { UpdateAgent } from "./types.ts";
import { type FieldError, invalid, TidingsError } from "../kernel/index.ts";
import type { Call } from "../operations/index.ts";
import type { Tx } from "../store/index.ts";

/**
 * Makes sure that there is what an agent is given: something that thinks for it where it is to answer, its playbooks, and the host's
 * actions. The playbooks are written, so that who removes one of them at this moment comes before this, or after it and finds the agent.
 * @throws TidingsError `validation_failed`; `not_configured`: whoever wrote to it would wait for ever
 */
export async function equipAgent(
  tx: Tx,
  { services }: Pick<Call, "services">,
  {
    enabled = false,
    playbook_ids = [],
    actions = [],
  }: Pick<UpdateAgent, "enabled" | "playbook_ids" | "actions">,
): Promise<void> {
  if (enabled && !services.hasAgents) {
    throw new TidingsError(
      "not_configured",
      "Nothing thinks for an agent: the engine has no option `agents`.",
    );
  }
  const found = await Promise.all(playbook_ids.map((id) => tx.get(playbookById, [id])));
  const errors: FieldError[] = [];
  for (const [i, playbook] of found.entries()) {
    if (playbook !== undefined) tx.update(playbooks, playbook, {});
    else {
      errors.push({
        pointer: `/playbook_ids/${i}`,
        code: "unknown_playbook",
        message: "no such playbook",
      });
    }
  }
  for (const [i, name] of actions.entries()) {
    if (services.actions.has(name)) continue;
    errors.push({
      pointer: `/actions/${i}`,
      code: "unknown_action",
      message: "the engine has no such action",
    });
  }
  if (errors.length > 0) throw invalid(errors);
}
