/** The resource of a playbook, and its versions. */
import * as z from "zod";
import {
  ids,
  name,
  pageSchema,
  readonlyList,
  text,
  timestamp,
  type PlaybookId,
} from "../../kernel/index.ts";
import { whole } from "../fields.ts";
import { slotSchema, type Slot } from "./slot-types.ts";
import { playbookStepSchema, type PlaybookStep } from "./step-types.ts";

/** What starts a playbook. It must also be one of the agent's `playbook_ids`. */
export interface PlaybookTriggerInput {
  /**
   * Words or phrases in the contact's message that start the playbook: up to 50, of up to 64
   * characters. Case and accents are ignored.
   */
  readonly keywords?: readonly string[] | undefined;
  /**
   * Names of intents, up to 20, of up to 64 characters. The playbook starts when an answer of the
   * model has one of them as `intent`, and no `text` and no `calls`.
   */
  readonly intents?: readonly string[] | undefined;
  /** Describes to the model when to start the playbook. At most 500 characters. */
  readonly when?: string | undefined;
  /**
   * If the keywords of several playbooks match, the one with the highest value starts. From -1,000
   * to 1,000.
   * @default 0
   */
  readonly priority?: number | undefined;
}

/** What starts a playbook. It must also be one of the agent's `playbook_ids`. */
export interface PlaybookTrigger extends PlaybookTriggerInput {
  /**
   * If the keywords of several playbooks match, the one with the highest value starts. From -1,000
   * to 1,000.
   */
  readonly priority: number;
}

const phrases = (max: number) => readonlyList(z.array(name(64)).max(max));

export const playbookTriggerSchema = z
  .strictObject({
    keywords: phrases(50).optional(),
    intents: phrases(20).optional(),
    when: text(500).optional(),
    priority: whole(-1_000, 1_000),
  })
  .meta({ interface: "PlaybookTrigger" });

const { priority } = playbookTriggerSchema.shape;

export const playbookTriggerInputSchema = z
  .strictObject({
    ...playbookTriggerSchema.shape,
    priority: priority.optional().meta({ default: 0 }),
  })
  .meta({ interface: "PlaybookTriggerInput" });

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
    id: ids.playbook,
    name: z.string(),
    description: z.string(),
    enabled: z.boolean(),
    trigger: playbookTriggerSchema,
    slots: z.array(slotSchema),
    steps: z.array(playbookStepSchema),
    on_cancel: z.string().optional(),
    max_turns: whole(1).optional(),
    version: whole(1),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Playbook" });

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
