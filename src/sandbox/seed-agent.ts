import {
  agentDefinitionOf,
  agents,
  insertAgent,
  insertPlaybook,
  playbookDefinitionOf,
} from "../agents/index.ts";
import type { PlaybookId } from "../kernel/index.ts";
import { sandboxAddress, sandboxInbox } from "../senders/index.ts";
import type { Tx } from "../store/index.ts";
import { assistant, assistantPlaybooks } from "./sample-agent.ts";

/** Creates the sandbox's assistant for the sandbox's own senders, unless there is an agent. */
export async function seedAgent(tx: Tx): Promise<void> {
  const known = await tx.list(agents.primary, [], 1);
  if (known.length > 0) return;
  const playbook_ids: PlaybookId[] = [];
  for (const playbook of assistantPlaybooks) {
    const { id } = await insertPlaybook(tx, {
      definition: playbookDefinitionOf(playbook),
      enabled: true,
    });
    playbook_ids.push(id);
  }
  const definition = agentDefinitionOf({
    ...assistant,
    playbook_ids,
    senders: [sandboxAddress, sandboxInbox],
  });
  await insertAgent(tx, { definition, enabled: true });
}
