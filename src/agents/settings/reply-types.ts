import * as z from "zod";
import { name, type Limits } from "../../kernel/index.ts";
import type { SettingChanges } from "../changes.ts";
import { whole } from "../fields.ts";

/** What an agent's replies look like, and when it sends them. */
export interface AgentReply {
  /**
   * `generated`: the model writes replies. `canned_strict`: the agent sends only texts that the
   * host application wrote. Templates of playbooks may add values of slots, fields of action
   * results and the contact's name.
   * @default "generated"
   */
  readonly mode: "generated" | "canned_strict";
  /**
   * The maximum characters of a reply, signature included: from 20 to the engine's limit of a
   * message, usually 1,600. A longer reply is cut.
   * @default 480
   */
  readonly max_chars: number;
  /**
   * How long the contact must be silent before the agent answers: 0 to 60,000 milliseconds. A
   * contact that keeps writing is answered five times that long after the first unanswered message.
   * @default 1500
   */
  readonly debounce_ms: number;
  /**
   * A line below each reply, of at most 100 characters. Without it, there is none. It is left out
   * if it takes more than half of `max_chars`.
   */
  readonly signature?: string | undefined;
}

/**
 * What an agent's replies look like. Absent fields keep their values or get their defaults. Null
 * removes the signature.
 */
export type AgentReplyInput = SettingChanges<AgentReply>;

export const defaultReply: AgentReply = {
  mode: "generated",
  max_chars: 480,
  debounce_ms: 1_500,
};

const signature = name(100);
const fields = {
  mode: z.enum(["generated", "canned_strict"]).meta({ default: defaultReply.mode }),
  max_chars: whole(20).meta({ default: defaultReply.max_chars }),
  debounce_ms: whole(0, 60_000).meta({ default: defaultReply.debounce_ms }),
};

export const agentReplySchema = z
  .strictObject({ ...fields, signature: signature.optional() })
  .meta({ interface: "AgentReply" });

export const agentReplyInputSchema = ({ messageCharacters }: Limits) =>
  z
    .strictObject({
      ...fields,
      max_chars: whole(20, messageCharacters).meta({ default: defaultReply.max_chars }),
      signature: signature.nullable(),
    })
    .partial()
    .meta({ interface: "AgentReplyInput" });
