import { approveRun } from "./approve-run.ts";
import { assignConversation, handBackConversation, handOffConversation } from "./change-handler.ts";
import { getPlaybook, listPlaybooks } from "./playbooks/reads.ts";
import { getAgent, listAgents } from "./reads.ts";
import { getRun, listRuns } from "./runs/reads.ts";
import { triggerAgent } from "./trigger.ts";
import type { ApproveRun } from "./runs/inputs.ts";
import { createAgent, removeAgent, updateAgent } from "./write-agent.ts";
import { createPlaybook, removePlaybook, updatePlaybook } from "./write-playbook.ts";
import type { AssignConversation } from "../conversations/index.ts";
import {
  command,
  commandById,
  commandByIdAndInput,
  type CommandOptions,
  method,
  query,
  queryById,
} from "../operations/index.ts";

export const agentHandles = {
  agents: {
    create: command(createAgent),
    get: queryById(getAgent),
    list: query(listAgents),
    update: commandByIdAndInput(updateAgent),
    remove: commandById(removeAgent),
    trigger: commandByIdAndInput(triggerAgent),
    runs: queryById(listRuns),
    run: method(
      ({ read }) =>
        (id: string, run_id: string) =>
          read(getRun, { id, run_id }),
    ),
    approve: method(
      ({ change }) =>
        (
          id: string,
          run_id: string,
          decision: Omit<ApproveRun, "id" | "run_id">,
          options?: CommandOptions,
        ) =>
          change(approveRun, { ...decision, id, run_id }, options),
    ),
  },
  playbooks: {
    create: command(createPlaybook),
    get: queryById(getPlaybook),
    list: query(listPlaybooks),
    update: commandByIdAndInput(updatePlaybook),
    remove: commandById(removePlaybook),
  },
  conversations: {
    assign: method(
      ({ change }) =>
        (id: string, assignee: AssignConversation["assignee"], options?: CommandOptions) =>
          change(assignConversation, { id, assignee }, options),
    ),
    handOff: commandByIdAndInput(handOffConversation),
    handBack: commandById(handBackConversation),
  },
};
