import {
  agents,
  agentDefinitionOf,
  playbookDefinitionOf,
  insertAgent,
  insertPlaybook,
  mostAgents,
} from "../agents/index.ts";
import { assistant, assistantPlaybooks } from "./seed-agent-definition.ts";
import { sandboxAddress, sandboxInbox } from "../senders/index.ts";
import type { DrawId, PlaybookId } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";

/** Has the sandbox's assistant answer what comes in for the sandbox's own senders, unless there is one of its name already. */
export async function engageAssistant(tx: Tx, drawId: DrawId): Promise<void> {
  const known = await tx.list(agents.primary, [], mostAgents);
  if (known.some(({ name }) => name === assistant.name)) return;
  const playbook_ids: PlaybookId[] = [];
  for (const playbook of assistantPlaybooks) {
    const { id } = await insertPlaybook(tx, drawId, {
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
  await insertAgent(tx, drawId, { definition, enabled: true });
}
