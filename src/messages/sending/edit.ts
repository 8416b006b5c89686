import { checkPolicies, decisionOf, throwIfDenied } from "../../consents/index.ts";
import { findAddressee } from "../../contacts/index.ts";
import {
  definedFields,
  invalid,
  iso,
  mediumOf,
  millis,
  notFound,
  TidingsError,
  withId,
  type ById,
  type Channel,
  type MessageStatus,
} from "../../kernel/index.ts";
import type { Command } from "../../operations/index.ts";
import { arm } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { mayBeWithCarrier } from "../attempts/attempts.ts";
import { factsOf } from "../hand-over/check-queued.ts";
import {
  editMessageSchema,
  hasContent,
  hasMedia,
  needsContent,
  smsHasNoMedia,
  type EditMessage,
} from "../input-types.ts";
import { releaseJob } from "../job-orders.ts";
import { messageById, messages, type MessageRow } from "../rows.ts";
import { edit, type Scheduled } from "../rules.ts";
import { updateWords } from "../search/search-words.ts";
import { segmentColumns } from "../segments.ts";
import { messageResource } from "../show.ts";
import { stateOf } from "../stored-state.ts";
import type { Message } from "../types.ts";
import { writeState, writeTimeline } from "../write-state.ts";

/** Changes a scheduled message that no carrier has, unless a policy denies the result. */
export const editMessage: Command<EditMessage & ById, Message> = {
  kind: "command",
  name: "messages.edit",
  input: (limits) => withId(editMessageSchema(limits), "The id of the message."),
  status: 200,
  shows: (input) => input.id,
  async touch(tx, { id }) {
    const message = await tx.get(messageById, [id]);
    if (message !== undefined) tx.touch(messages, message);
  },
  async run(tx, { id, ...change }, call) {
    const { secret } = call.services;
    const message = await tx.get(messageById, [id]);
    if (message === undefined) throw notFound("message", id);
    const state = await editedState(tx, message, change);
    const body = change.body ?? message.body ?? "";
    const media = change.media ?? message.media;
    const metadata = change.metadata ?? message.metadata;
    checkContent(message.channel, body, media);
    const addressee = await findAddressee(tx, secret, mediumOf(message.channel), message.to);
    const verdicts = await checkPolicies(tx, call, {
      message: { ...factsOf(message), body, media, metadata },
      confirmsOptOut: message.keyword === "opt_out",
      consent: addressee,
      contact_id: addressee.contact_id ?? message.contact_id,
      at: Math.max(tx.now, state.send_at),
    });
    throwIfDenied(decisionOf(verdicts));
    const patch: Partial<MessageRow> = {
      body,
      media,
      metadata,
      ...(change.send_at === undefined ? {} : { rescheduled_at: tx.now }),
      ...segmentColumns(message.channel, body),
    };
    const edited = await writeState(tx, message, state, patch);
    await updateWords(tx, edited);
    writeTimeline(tx, message, edited, {
      type: "edit",
      at: iso(tx.now),
      fields: Object.keys(definedFields(change)),
    });
    await arm(tx, releaseJob(edited, state.send_at));
    return messageResource(edited);
  },
};

/**
 * Returns the state of a message after an edit.
 * @throws TidingsError `not_editable`; `validation_failed` if `send_at` is too far ahead
 */
async function editedState(
  tx: Tx,
  message: MessageRow,
  change: Pick<EditMessage, "send_at">,
): Promise<Scheduled> {
  if (message.direction === "inbound") throw notEditable(message.status);
  const send_at = change.send_at === undefined ? {} : { send_at: millis(change.send_at) };
  const decision = edit(stateOf(message), send_at, tx.now);
  if (decision.decision === "refused") throw notEditable(decision.status);
  if (decision.decision === "invalid") throw invalid([decision.error]);
  // A policy can defer a message between two attempts. A receipt that says that the first one
  // arrived would then show a text that the contact did not get.
  if (await mayBeWithCarrier(tx, message)) {
    throw new TidingsError("not_editable", "A carrier may have sent the message already.");
  }
  return decision.state;
}

function notEditable(status: MessageStatus): TidingsError {
  const message = `The message is ${status}; only a scheduled one can be edited.`;
  return new TidingsError("not_editable", message);
}

/** Checks the text and the media together, because an edit may give only one of them. */
function checkContent(channel: Channel, body: string, media: MessageRow["media"]): void {
  const content = { body, media };
  if (!hasContent(content)) {
    throw invalid([{ pointer: "/body", code: "invalid", message: needsContent.error }]);
  }
  if (channel === "sms" && hasMedia(content)) {
    throw invalid([{ pointer: "/media", code: "invalid", message: smsHasNoMedia.error }]);
  }
}
