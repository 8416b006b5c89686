import type { TriggerAgent } from "./types.ts";
import { contactById } from "../contacts/index.ts";
import type { ConversationRow } from "../conversations/index.ts";
import { playbookById } from "./playbooks/rows.ts";
import { type AnswerContext, soundValue } from "./playbooks/slots.ts";
import type { Slot } from "./playbooks/types.ts";
import type { RunRequest } from "./runs/types.ts";
import { type FieldError, invalid, TidingsError } from "../kernel/index.ts";
import type { Services } from "../operations/index.ts";
import type { Json } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

type Asked = Pick<TriggerAgent, "playbook_id" | "action" | "input">;

/**
 * What is to be done in a conversation, with what it is given. What an action is given its own schema judges when it is called.
 * @throws TidingsError `validation_failed`; `conflict` when the playbook is disabled
 */
export async function requestOf(
  tx: Tx,
  { actions, language }: Pick<Services, "actions" | "language">,
  conversation: ConversationRow,
  { playbook_id, action = "", input = {} }: Asked,
): Promise<RunRequest> {
  if (playbook_id === undefined) {
    if (actions.has(action)) return { type: "action", action, input };
    throw refused({
      pointer: "/action",
      code: "unknown_action",
      message: "the engine has no such action",
    });
  }
  const { contact_id } = conversation;
  const playbook = await tx.get(playbookById, [playbook_id], { hold: true });
  if (playbook === undefined) {
    throw refused({
      pointer: "/playbook_id",
      code: "unknown_playbook",
      message: "no such playbook",
    });
  }
  if (!playbook.enabled) throw new TidingsError("conflict", "The playbook is disabled.");
  const contact = await tx.get(contactById, [contact_id]);
  const known = { phone: contact?.phone ?? null, time_zone: contact?.time_zone ?? null };
  const slots = slotsFrom(playbook.definition.slots, input, {
    language,
    now: tx.now,
    contact: known,
  });
  return { type: "playbook", playbook_id: playbook.id, slots };
}

function slotsFrom(
  slots: readonly Slot[],
  input: Json,
  context: AnswerContext,
): { readonly [name: string]: Json } {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw refused({
      pointer: "/input",
      code: "invalid_type",
      message: "must be an object of slots",
    });
  }
  const errors: FieldError[] = [];
  const values = Object.entries(input).map(([name, given]) => {
    const slot = slots.find((each) => each.name === name);
    const value = slot && soundValue(slot, given, context);
    const pointer = `/input/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (slot === undefined) {
      errors.push({ pointer, code: "unknown_slot", message: "the playbook has no such slot" });
    } else if (value === undefined) {
      errors.push({ pointer, code: "invalid_slot", message: `is no ${slot.type} for it` });
    }
    return [name, value ?? null] as const;
  });
  if (errors.length > 0) throw invalid(errors);
  return Object.fromEntries(values);
}

const refused = (error: FieldError): TidingsError => invalid([error]);
