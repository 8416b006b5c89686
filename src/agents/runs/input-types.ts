/** The inputs of the operations that start, read and approve runs. */
import * as z from "zod";
import {
  filterById,
  isObjectGiven,
  name,
  pageFields,
  reference,
  type PageQuery,
} from "../../kernel/index.ts";
import type { Json } from "../../ports/index.ts";
import { actionInput, identifier } from "../fields.ts";
import { runStatusSchema, type RunStatus } from "./types.ts";

/** Has an agent run a playbook or call one action, for a contact or in a conversation. */
export interface TriggerAgent {
  /**
   * Runs in the contact's active conversation with the latest activity, or in a new text
   * conversation if none is active. Give either this or `conversation_id`.
   */
  readonly contact_id?: string | undefined;
  /** The conversation to run in. It must not be closed. Give either this or `contact_id`. */
  readonly conversation_id?: string | undefined;
  /**
   * The playbook to run. It must be enabled, and need not be one of the agent's `playbook_ids`.
   * Give either this or `action`.
   */
  readonly playbook_id?: string | undefined;
  /** The name of the action to call. Give either this or `playbook_id`. */
  readonly action?: string | undefined;
  /**
   * For a playbook, slot values by slot name. For an action, its input. At most 16,384 characters
   * as JSON, with at most 100 levels of objects and lists.
   * @default {}
   */
  readonly input?: Json | undefined;
}

export const triggerAgentSchema = z
  .strictObject({
    contact_id: reference.optional(),
    conversation_id: reference.optional(),
    playbook_id: reference.optional(),
    action: identifier.optional(),
    input: actionInput.optional().meta({ default: {} }),
  })
  .refine(
    ({ contact_id, conversation_id }) =>
      (contact_id === undefined) !== (conversation_id === undefined),
    {
      path: ["contact_id"],
      error: "give exactly one of contact_id and conversation_id",
      when: isObjectGiven,
    },
  )
  .refine(({ playbook_id, action }) => (playbook_id === undefined) !== (action === undefined), {
    path: ["playbook_id"],
    error: "give exactly one of playbook_id and action",
    when: isObjectGiven,
  })
  .meta({ id: "TriggerAgent" });

/** Which runs to list. */
export interface ListRuns extends PageQuery {
  /**
   * Only runs with this status. Those that await an approval are in the order of their deadlines.
   */
  readonly status?: RunStatus | undefined;
}

export const listRunsSchema = z
  .strictObject({ ...pageFields, status: runStatusSchema.optional() })
  .meta({ interface: "ListRuns" });

/** Which runs of an agent to list. */
export interface ListAgentRuns extends ListRuns {
  /** Only runs in this conversation. */
  readonly conversation_id?: string | undefined;
}

export const listAgentRunsSchema = z
  .strictObject({ ...listRunsSchema.shape, conversation_id: filterById("conversation").optional() })
  .meta({ interface: "ListAgentRuns" });

/** One run of an agent. */
export interface RunOfAgent {
  /** The id of the agent. */
  readonly id: string;
  /** The id of the run. */
  readonly run_id: string;
}

export const runOfAgentSchema = z
  .strictObject({ id: reference, run_id: reference })
  .meta({ interface: "RunOfAgent" });

/** A person's decision about the action that a run waits for. */
export interface ApproveRun {
  /**
   * Whether the action is called. If several calls wait and `call_id` is absent, this decides about
   * the oldest.
   */
  readonly decision: "approve" | "deny";
  /**
   * The call that the decision is about: the `call_id` of the run's `approval`, or of one of its
   * `later_approvals`. If the run no longer waits for this call, the decision is refused and
   * changes nothing.
   */
  readonly call_id?: string | undefined;
  /** The host application's id of the person who decides. The run records it. */
  readonly author_id?: string | undefined;
}

export const approveRunSchema = z
  .strictObject({
    decision: z.enum(["approve", "deny"]),
    call_id: reference.optional(),
    author_id: name(200).optional(),
  })
  .meta({ id: "ApproveRun" });
