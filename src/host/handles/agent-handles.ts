import type {
  Agent,
  AgentActions,
  ApproveRun,
  CreateAgent,
  CreatePlaybook,
  GetPlaybook,
  ListAgentRuns,
  ListRuns,
  Playbook,
  Run,
  TriggerAgent,
  UpdateAgent,
  UpdatePlaybook,
} from "../../agents/index.ts";
import type { PageQuery } from "../../kernel/index.ts";
import type { CommandOptions, PagePromise } from "../../operations/index.ts";

/** AI agents, which reply to contacts, and their runs. */
export interface Agents {
  /**
   * Creates an agent. It answers new inbound messages unless it is created disabled.
   * @throws TidingsError `not_configured` when it is enabled and the engine has no option `agents`
   */
  create(input: CreateAgent, options?: CommandOptions): Promise<Agent>;
  /**
   * Returns an agent.
   * @throws TidingsError `not_found`
   */
  get(id: string): Promise<Agent>;
  /** Lists agents, newest first. */
  list(page?: PageQuery): PagePromise<Agent>;
  /**
   * Changes an agent. Absent fields keep their value, also in nested objects, and null clears them.
   * Conversations that the agent already has continue with the version they started with.
   * @throws TidingsError `not_configured` when it enables the agent and the engine has no option
   *   `agents`
   */
  update(id: string, changes: UpdateAgent, options?: CommandOptions): Promise<Agent>;
  /**
   * Removes an agent. It sends nothing more. Its conversations go to people when their contacts
   * write again.
   * @throws TidingsError `not_found`
   */
  remove(id: string, options?: CommandOptions): Promise<void>;
  /**
   * Starts a playbook or calls one action in a conversation. Resolves with the run when it is
   * queued. A conversation without a handler is assigned to the agent.
   * @throws TidingsError `conflict` when the agent or the playbook is disabled, when the
   *   conversation is closed or another agent has it, and for a playbook also when people have it
   */
  trigger(id: string, input: TriggerAgent, options?: CommandOptions): Promise<Run>;
  /** Lists the application's actions, which agents and playbooks can call. */
  actions(): Promise<AgentActions>;
  /**
   * Lists the runs of the agent, newest first. A filtered page can be empty although more pages
   * follow.
   */
  runs(id: string, filters?: ListAgentRuns): PagePromise<Run>;
  /**
   * Returns a run with its steps and its result.
   * @throws TidingsError `not_found`
   */
  run(id: string, runId: string): Promise<Run>;
  /**
   * Approves or denies an action that waits for approval. If several wait, decides about the
   * oldest. Without a decision the action is denied after one day.
   * @throws TidingsError `conflict` when the run waits for no approval, or `call_id` names another
   *   call than the one that waits. Also when it would approve while people handle the
   *   conversation, or after the agent was disabled or deleted
   */
  approve(id: string, runId: string, decision: ApproveRun, options?: CommandOptions): Promise<Run>;
}

/** The runs of all agents: the records of their turns and triggers. */
export interface Runs {
  /**
   * Lists the runs of all agents, newest first, including those of deleted agents. With the status
   * `awaiting_approval`, the run whose deadline is next comes first. With another status, a page
   * can be empty although more pages follow.
   */
  list(filters?: ListRuns): PagePromise<Run>;
}

/** Playbooks: scripts that agents follow. */
export interface Playbooks {
  /** Creates a playbook, disabled by default. All its steps are checked when it is enabled. */
  create(input: CreatePlaybook, options?: CommandOptions): Promise<Playbook>;
  /**
   * Returns a playbook, in its current version or in the given one.
   * @throws TidingsError `not_found`, also when the version is not kept any more
   */
  get(id: string, query?: GetPlaybook): Promise<Playbook>;
  /** Lists playbooks, newest first. */
  list(page?: PageQuery): PagePromise<Playbook>;
  /**
   * Changes, enables or disables a playbook. Absent fields keep their value. Runs in progress
   * continue with the version they started with.
   * @throws TidingsError `validation_failed` when the playbook is enabled and its steps are not
   *   valid as a whole
   */
  update(id: string, changes: UpdatePlaybook, options?: CommandOptions): Promise<Playbook>;
  /**
   * Removes a playbook.
   * @throws TidingsError `conflict` when an agent uses it or another playbook calls it.
   *   `conflictingId` is the id of that agent or playbook.
   */
  remove(id: string, options?: CommandOptions): Promise<void>;
}
