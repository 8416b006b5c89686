/** The resource of a playbook, and the inputs of its operations. */
import * as z from "zod";
import {
  ids,
  name,
  pageSchema,
  type PlaybookId,
  reference,
  text,
  timestamp,
} from "../../kernel/index.ts";
import type { Json } from "../../ports/index.ts";
import { atMost, handle } from "../fields.ts";
import {
  playbookLimits,
  type PlaybookStep,
  type PlaybookStepInput,
  playbookStepInputSchema,
  playbookStepSchema,
} from "./step-types.ts";
import { type Slot, slotSchema } from "./slot-types.ts";

/** What starts a playbook. It must also be one of the agent's `playbook_ids`. */
export interface PlaybookTrigger {
  /**
   * Words or phrases in the contact's message that start the playbook. Case and accents are
   * ignored.
   */
  readonly keywords?: string[] | undefined;
  /** Names of intents that start the playbook when the model recognizes them. */
  readonly intents?: string[] | undefined;
  /** Describes to the model when to start the playbook. */
  readonly when?: string | undefined;
  /** If the keywords of several playbooks match, the one with the highest value starts. */
  readonly priority: number;
}

export const playbookTriggerSchema = z.strictObject({
  keywords: z
    .array(z.string())
    .optional()
    .describe(
      "Words or phrases in the contact's message that start the playbook. Case and accents are " +
        "ignored.",
    ),
  intents: z
    .array(z.string())
    .optional()
    .describe("Names of intents that start the playbook when the model recognizes them."),
  when: z.string().optional().describe("Describes to the model when to start the playbook."),
  priority: z
    .int()
    .describe("If the keywords of several playbooks match, the one with the highest value starts."),
});

/** A script that an agent follows: triggers, questions and steps. */
export interface Playbook {
  /** The id of the playbook. */
  readonly id: PlaybookId;
  /** The playbook's name. */
  readonly name: string;
  /** What the playbook does. The model reads it to decide whether to start the playbook. */
  readonly description: string;
  /** Whether the playbook can be started. */
  readonly enabled: boolean;
  /** What starts the playbook. */
  readonly trigger: PlaybookTrigger;
  /** The values that the playbook asks for and stores. */
  readonly slots: Slot[];
  /** The steps, in order. The playbook begins at the first. */
  readonly steps: PlaybookStep[];
  /**
   * The id of the step that follows when the contact cancels. If absent, the playbook ends then.
   */
  readonly on_cancel?: string | undefined;
  /**
   * Maximum agent turns in which the contact answers. After that, the playbook ends. If absent,
   * there is no limit.
   */
  readonly max_turns?: number | undefined;
  /**
   * Begins at 1 and grows with each change, except of `enabled`. A playbook in progress keeps its
   * version.
   */
  readonly version: number;
  /** When the playbook was created. */
  readonly created_at: string;
  /** When the playbook was last changed. */
  readonly updated_at: string;
}

export const playbookSchema = z
  .strictObject({
    id: ids.playbook.describe("The id of the playbook."),
    name: z.string().describe("The playbook's name."),
    description: z
      .string()
      .describe(
        "What the playbook does. The model reads it to decide whether to start the playbook.",
      ),
    enabled: z.boolean().describe("Whether the playbook can be started."),
    trigger: playbookTriggerSchema.describe("What starts the playbook."),
    slots: z.array(slotSchema).describe("The values that the playbook asks for and stores."),
    steps: z
      .array(playbookStepSchema)
      .describe("The steps, in order. The playbook begins at the first."),
    on_cancel: z
      .string()
      .optional()
      .describe(
        "The id of the step that follows when the contact cancels. If absent, the playbook ends " +
          "then.",
      ),
    max_turns: z
      .int()
      .min(1)
      .optional()
      .describe(
        "Maximum agent turns in which the contact answers. After that, the playbook ends. If " +
          "absent, there is no limit.",
      ),
    version: z
      .int()
      .min(1)
      .describe(
        "Begins at 1 and grows with each change, except of `enabled`. A playbook in progress " +
          "keeps its version.",
      ),
    created_at: timestamp.describe("When the playbook was created."),
    updated_at: timestamp.describe("When the playbook was last changed."),
  })
  .meta({
    id: "Playbook",
    description: "A script that an agent follows: triggers, questions and steps.",
  });

export const playbookPageSchema = pageSchema(playbookSchema).meta({ id: "PlaybookPage" });

/** The part of a playbook that has versions: everything the caller sets except `enabled`. */
export type PlaybookDefinition = Omit<
  Playbook,
  "id" | "enabled" | "version" | "created_at" | "updated_at"
>;

/** One version of a playbook. */
export interface PinnedPlaybook {
  readonly id: PlaybookId;
  readonly revision: number;
  readonly definition: PlaybookDefinition;
}

/** What starts a playbook. It must also be one of the agent's `playbook_ids`. */
export interface PlaybookTriggerInput {
  /**
   * Words or phrases in the contact's message that start the playbook: up to 50, of up to 64
   * characters. Case and accents are ignored.
   */
  readonly keywords?: string[] | undefined;
  /**
   * Names of intents that start the playbook when the model recognizes them: up to 20, of up to 64
   * characters.
   */
  readonly intents?: string[] | undefined;
  /** Describes to the model when to start the playbook. At most 500 characters. */
  readonly when?: string | undefined;
  /**
   * If the keywords of several playbooks match, the one with the highest value starts. From -1,000
   * to 1,000.
   * @default 0
   */
  readonly priority?: number | undefined;
}

const phrases = (max: number) => z.array(name(64)).max(max, atMost(max));

export const playbookTriggerInputSchema = z.strictObject({
  keywords: phrases(50)
    .optional()
    .describe(
      "Words or phrases in the contact's message that start the playbook: up to 50, of up to 64 " +
        "characters. Case and accents are ignored.",
    ),
  intents: phrases(20)
    .optional()
    .describe(
      "Names of intents that start the playbook when the model recognizes them: up to 20, of up " +
        "to 64 characters.",
    ),
  when: text(500)
    .optional()
    .describe("Describes to the model when to start the playbook. At most 500 characters."),
  priority: z
    .int()
    .min(-1_000)
    .max(1_000)
    .optional()
    .meta({
      default: 0,
      description:
        "If the keywords of several playbooks match, the one with the highest value starts. From " +
        "-1,000 to 1,000.",
    }),
});

/** The fields of create and update. */
const fields = {
  name: name(100).describe("The playbook's name. At most 100 characters."),
  description: text(1_000),
  enabled: z
    .boolean()
    .optional()
    .describe(
      "Whether the playbook can be started. Its steps are checked as a whole when it is enabled " +
        "and at each later change.",
    ),
  slots: z.array(slotSchema).max(playbookLimits.slots, atMost(playbookLimits.slots)),
  steps: z.array(playbookStepInputSchema).max(playbookLimits.steps, atMost(playbookLimits.steps)),
  max_turns: z.int().min(1).max(1_000),
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
  readonly slots?: Slot[] | undefined;
  /** The steps, in order. The playbook begins at the first. At most 100. */
  readonly steps: PlaybookStepInput[];
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
    description: fields.description.optional().meta({
      default: "",
      description:
        "What the playbook does. The model reads it to decide whether to start the playbook. At " +
        "most 1,000 characters.",
    }),
    enabled: fields.enabled.meta({ ...fields.enabled.meta(), default: false }),
    trigger: playbookTriggerInputSchema.optional().meta({
      default: { priority: 0 },
      description:
        "What starts the playbook. The model can also start it by its name and description.",
    }),
    slots: fields.slots.optional().meta({
      default: [],
      description: "The values that the playbook asks for and stores. At most 50.",
    }),
    steps: fields.steps.describe(
      "The steps, in order. The playbook begins at the first. At most 100.",
    ),
    on_cancel: handle
      .optional()
      .describe(
        "The id of the step that follows when the contact cancels. If absent, the playbook ends " +
          "then.",
      ),
    max_turns: fields.max_turns
      .optional()
      .describe(
        "Maximum agent turns in which the contact answers: 1 to 1,000. After that, the playbook " +
          "ends. If absent, there is no limit.",
      ),
  })
  .meta({ id: "CreatePlaybook", description: "A new playbook." });

/** Absent fields keep their values. Null removes a field. */
export interface UpdatePlaybook {
  /** The id of the playbook. */
  readonly id: string;
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
  readonly slots?: Slot[] | undefined;
  /** The steps, in order, at most 100. Replaced as a whole. */
  readonly steps?: PlaybookStepInput[] | undefined;
  /** The id of the step that follows when the contact cancels. Null ends the playbook then. */
  readonly on_cancel?: string | null | undefined;
  /**
   * Maximum agent turns in which the contact answers: 1 to 1,000. Null means without limit.
   */
  readonly max_turns?: number | null | undefined;
}

export const updatePlaybookSchema = z
  .strictObject({
    id: reference.describe("The id of the playbook."),
    name: fields.name.optional(),
    description: fields.description
      .optional()
      .describe("What the playbook does, for the model. At most 1,000 characters."),
    enabled: fields.enabled,
    trigger: playbookTriggerInputSchema
      .optional()
      .describe("What starts the playbook. Replaced as a whole."),
    slots: fields.slots
      .optional()
      .describe(
        "The values that the playbook asks for and stores, at most 50. Replaced as a whole.",
      ),
    steps: fields.steps
      .optional()
      .describe("The steps, in order, at most 100. Replaced as a whole."),
    on_cancel: handle
      .nullable()
      .optional()
      .describe(
        "The id of the step that follows when the contact cancels. Null ends the playbook then.",
      ),
    max_turns: fields.max_turns
      .nullable()
      .optional()
      .describe(
        "Maximum agent turns in which the contact answers: 1 to 1,000. Null means without limit.",
      ),
  })
  .meta({
    id: "UpdatePlaybook",
    description: "Absent fields keep their values. Null removes a field.",
  });

/**
 * A conversation's position in a playbook. The frame of a called playbook lies above its caller's
 * frame.
 */
export interface Frame {
  readonly playbook_id: PlaybookId;
  readonly revision: number;
  /** The next step, or the step that waits for the contact's answer or for an approval. */
  readonly step: string;
  /** Whether the step has asked already. */
  readonly asked: boolean;
  /** Invalid answers to the step. */
  readonly tries: number;
  /** Turns of the contact since the frame began. */
  readonly turns: number;
  /**
   * Steps that asked, or found their slot filled. When the playbook reaches such a step again, it
   * asks even if the slot is filled. So no loop runs without a question.
   */
  readonly visited: readonly string[];
  /** Values by slot name, and outputs of actions by `<step>.<field>`. */
  readonly slots: { readonly [name: string]: Json };
  /**
   * The input of the action whose approval the step waits for. The contact's name may change
   * meanwhile, and the decision is about this input.
   */
  readonly input?: Json;
}
