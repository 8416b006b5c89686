/** The inputs of the operations of playbooks. */
import * as z from "zod";
import { name, queryInteger, readonlyList, text } from "../../kernel/index.ts";
import { identifier, whole } from "../fields.ts";
import { slotSchema, type Slot } from "./slot-types.ts";
import { playbookLimits, playbookStepInputSchema, type PlaybookStepInput } from "./step-types.ts";
import { playbookTriggerInputSchema, type PlaybookTriggerInput } from "./types.ts";

/** The fields of create and update. */
const fields = {
  name: name(100),
  description: text(1_000),
  enabled: z.boolean().optional(),
  slots: readonlyList(z.array(slotSchema).max(playbookLimits.slots)),
  steps: readonlyList(z.array(playbookStepInputSchema).max(playbookLimits.steps)),
  max_turns: whole(1, 1_000),
};

/** A new playbook. */
export interface CreatePlaybook {
  /** The playbook's name. At most 100 characters. */
  readonly name: string;
  /**
   * What the playbook does. The model reads it to decide whether to start the playbook. At most
   * 1,000 characters.
   * @default ""
   */
  readonly description?: string | undefined;
  /**
   * Whether the playbook can be started. Its steps are checked as a whole when it is enabled and at
   * each later change.
   * @default false
   */
  readonly enabled?: boolean | undefined;
  /**
   * What starts the playbook. The model can also start it by its name and description.
   * @default {"priority":0}
   */
  readonly trigger?: PlaybookTriggerInput | undefined;
  /**
   * The values that the playbook asks for and stores. At most 50.
   * @default []
   */
  readonly slots?: readonly Slot[] | undefined;
  /** The steps, in order. The playbook begins at the first. At most 100. */
  readonly steps: readonly PlaybookStepInput[];
  /**
   * The id of the step that follows when the contact cancels. If absent, the playbook ends then.
   */
  readonly on_cancel?: string | undefined;
  /**
   * Maximum agent turns in which the contact answers: 1 to 1,000. After that, the playbook ends. If
   * absent, there is no limit.
   */
  readonly max_turns?: number | undefined;
}

export const createPlaybookSchema = z
  .strictObject({
    name: fields.name,
    description: fields.description.optional().meta({ default: "" }),
    enabled: fields.enabled.meta({ default: false }),
    trigger: playbookTriggerInputSchema.optional().meta({ default: { priority: 0 } }),
    slots: fields.slots.optional().meta({ default: [] }),
    steps: fields.steps,
    on_cancel: identifier.optional(),
    max_turns: fields.max_turns.optional(),
  })
  .meta({ id: "CreatePlaybook" });

/** Absent fields keep their values. Null removes a field. */
export interface UpdatePlaybook {
  /** The playbook's name. At most 100 characters. */
  readonly name?: string | undefined;
  /** What the playbook does, for the model. At most 1,000 characters. */
  readonly description?: string | undefined;
  /**
   * Whether the playbook can be started. Its steps are checked as a whole when it is enabled and at
   * each later change.
   */
  readonly enabled?: boolean | undefined;
  /** What starts the playbook. Replaced as a whole. */
  readonly trigger?: PlaybookTriggerInput | undefined;
  /** The values that the playbook asks for and stores, at most 50. Replaced as a whole. */
  readonly slots?: readonly Slot[] | undefined;
  /** The steps, in order, at most 100. Replaced as a whole. */
  readonly steps?: readonly PlaybookStepInput[] | undefined;
  /** The id of the step that follows when the contact cancels. Null ends the playbook then. */
  readonly on_cancel?: string | null | undefined;
  /**
   * Maximum agent turns in which the contact answers: 1 to 1,000. Null means without limit.
   */
  readonly max_turns?: number | null | undefined;
}

export const updatePlaybookSchema = z
  .strictObject({
    name: fields.name.optional(),
    description: fields.description.optional(),
    enabled: fields.enabled,
    trigger: playbookTriggerInputSchema.optional(),
    slots: fields.slots.optional(),
    steps: fields.steps.optional(),
    on_cancel: identifier.nullable().optional(),
    max_turns: fields.max_turns.nullable().optional(),
  })
  .meta({ id: "UpdatePlaybook" });

/** Which playbook to get, and in which version. */
export interface GetPlaybook {
  /**
   * The version to get, such as the one that a run names. If absent, the current one. Old versions
   * are kept for some time after their last use.
   */
  readonly version?: number | undefined;
}

export const getPlaybookSchema = z
  .strictObject({
    version: queryInteger(1, 2_147_483_647).optional(),
  })
  .meta({ interface: "GetPlaybook" });
