import { createPlaybook } from "./create-playbook.ts";
import { removePlaybook } from "./remove-playbook.ts";
import { updatePlaybook } from "./update-playbook.ts";
import { getPlaybook, listPlaybooks } from "./playbooks/reads.ts";
import { playbookPageSchema, playbookSchema } from "./playbooks/types.ts";
import type { Route } from "../operations/index.ts";

const tag = "Playbooks";
const read = { tag, scopes: ["agents:read"] } as const;
const write = { tag, scopes: ["agents:write"] } as const;

export const playbookRoutes: readonly Route[] = [
  {
    ...write,
    method: "POST",
    path: "/v1/playbooks",
    operation: createPlaybook,
    summary: "Create a playbook",
    description: "Where it is enabled at once, its steps are checked as a whole.",
    response: playbookSchema,
  },
  {
    ...read,
    method: "GET",
    path: "/v1/playbooks",
    operation: listPlaybooks,
    summary: "List playbooks",
    description: "Newest first.",
    response: playbookPageSchema,
  },
  {
    ...read,
    method: "GET",
    path: "/v1/playbooks/:id",
    operation: getPlaybook,
    summary: "Get a playbook",
    response: playbookSchema,
  },
  {
    ...write,
    method: "PATCH",
    path: "/v1/playbooks/:id",
    operation: updatePlaybook,
    summary: "Edit a playbook, or enable it",
    description:
      "Makes a new version. Who is in the middle of it goes on with the one that they began with.",
    response: playbookSchema,
  },
  {
    ...write,
    method: "DELETE",
    path: "/v1/playbooks/:id",
    operation: removePlaybook,
    summary: "Delete a playbook",
    description:
      "Not while an agent has it, or another playbook that is enabled calls it: `conflict`, with its id.",
  },
];
