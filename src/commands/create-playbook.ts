import { playbookResource } from "../domain/playbooks/resource.ts";
import { definitionOf } from "../domain/playbooks/rules.ts";
import {
  type CreatePlaybook,
  createPlaybookSchema,
  type Playbook,
} from "../domain/playbooks/types.ts";
import type { Command } from "../operation.ts";
import { actorOf } from "./steps/append-event.ts";
import { checkPlaybook } from "./steps/check-playbook.ts";
import { insertPlaybook } from "./steps/write-playbook.ts";

export const createPlaybook: Command<CreatePlaybook, Playbook> = {
  kind: "command",
  name: "playbooks.create",
  input: () => createPlaybookSchema,
  status: 201,
  async run(tx, input, call) {
    const { enabled = false } = input;
    const definition = definitionOf(input);
    if (enabled) await checkPlaybook(tx, call, definition);
    const actor = actorOf(call.scope, call.services.drawId);
    return playbookResource(await insertPlaybook(tx, actor, { definition, enabled }));
  },
};
