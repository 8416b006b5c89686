import { playbookResource } from "./playbooks/resource.ts";
import { changedDefinition } from "./playbooks/rules.ts";
import { type Playbook, type UpdatePlaybook, updatePlaybookSchema } from "./playbooks/types.ts";
import type { Command } from "../operations/index.ts";
import { checkPlaybook } from "./check-playbook.ts";
import { playbookToChange } from "./find-playbook.ts";
import { updatePlaybook as writePlaybook } from "./write-playbook.ts";

/** Makes a new version of a playbook. Who is in the middle of it goes on with the one that they began with. */
export const updatePlaybook: Command<UpdatePlaybook, Playbook> = {
  kind: "command",
  name: "playbooks.update",
  input: () => updatePlaybookSchema,
  status: 200,
  async run(tx, change, call) {
    const before = await playbookToChange(tx, change.id);
    const { enabled = before.enabled } = change;
    const definition = changedDefinition(before.definition, change);
    if (enabled) await checkPlaybook(tx, call, definition, before.id);
    return playbookResource(writePlaybook(tx, before, { definition, enabled }));
  },
};
