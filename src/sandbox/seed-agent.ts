import { agents } from "../agents/rows.ts";
import { definitionOf as agentOf, mostAgents } from "../agents/rules.ts";
import { definitionOf as playbookOf } from "../agents/playbooks/rules.ts";
import { assistant, assistantPlaybooks } from "./seed-agent-definition.ts";
import { sandboxAddress, sandboxInbox } from "../senders/sandbox-senders.ts";
import type { PlaybookId } from "../kernel/ids.ts";
import type { DrawId } from "../kernel/ids.ts";
import type { Tx } from "../store/transaction.ts";
import { insertAgent } from "../agents/write-agent.ts";
import { insertPlaybook } from "../agents/write-playbook.ts";

/** Has the sandbox's assistant answer what comes in for the sandbox's own senders, unless there is one of its name already. */
export async function engageAssistant(tx: Tx, drawId: DrawId): Promise<void> {
  const known = await tx.list(agents.primary, [], mostAgents);
  if (known.some(({ name }) => name === assistant.name)) return;
  const playbook_ids: PlaybookId[] = [];
  for (const playbook of assistantPlaybooks) {
    const { id } = await insertPlaybook(tx, drawId, {
      definition: playbookOf(playbook),
      enabled: true,
    });
    playbook_ids.push(id);
  }
  const definition = agentOf({
    ...assistant,
    playbook_ids,
    senders: [sandboxAddress, sandboxInbox],
  });
  await insertAgent(tx, drawId, { definition, enabled: true });
}
