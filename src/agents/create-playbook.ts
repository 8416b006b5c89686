import { playbookResource } from "./playbooks/resource.ts";
import { playbookDefinitionOf } from "./playbooks/rules.ts";
import { type CreatePlaybook, createPlaybookSchema, type Playbook } from "./playbooks/types.ts";
import type { Command } from "../operations/index.ts";
import { checkPlaybook } from "./check-playbook.ts";
import { insertPlaybook } from "./write-playbook.ts";

export const createPlaybook: Command<CreatePlaybook, Playbook> = {
  kind: "command",
  name: "playbooks.create",
  input: () => createPlaybookSchema,
  status: 201,
  async run(tx, input, call) {
    const { enabled = false } = input;
    const definition = playbookDefinitionOf(input);
    if (enabled) await checkPlaybook(tx, call, definition);
    const { drawId } = call.services;
    return playbookResource(await insertPlaybook(tx, drawId, { definition, enabled }));
  },
};
