import { awaitingRuns, mayQuote, openRuns, redactSession } from "../agents/index.ts";
import { conversationById } from "../conversations/index.ts";
import {
  appendEvent,
  eraseConsumerErrorsOfKeys,
  eventById,
  receivedEventId,
} from "../events/index.ts";
import { byIdSchema, iso, notFound, TidingsError, type ById } from "../kernel/index.ts";
import {
  messageById,
  messageRedacted,
  messageResource,
  messages,
  removeWords,
  writeTimeline,
  type Message,
  type MessageRow,
} from "../messages/index.ts";
import { idempotency, idempotencyByKey, showsOutput, type Command } from "../operations/index.ts";
import { arm, findJob } from "../queue/index.ts";
import type { Tx } from "../store/index.ts";
import { mailRedaction } from "../webchat/index.ts";
import { redactJob } from "./job-orders.ts";
import { eraseAllResponses, ownersOf, removeQuotes, rewriteEvents } from "./remove-quotes.ts";

/** A redaction is refused if this many runs are in progress, since it could not check them all. */
const maxInProgress = 1_000;

/**
 * Removes the text and media of a message from the message, its events and its stored responses.
 * It ends the playbooks whose slots may quote the message. It also removes all text from the agent
 * runs that may quote it, and removes the observations that models and rules made from it. If there
 * are many runs or observations, a job handles both right after the commit. The audit trail stays.
 */
export const redactMessage: Command<ById, Message> = {
  kind: "command",
  name: "messages.redact",
  input: () => byIdSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id }, { services }) {
    const message = await tx.get(messageById, [id]);
    if (message === undefined) throw notFound("message", id);
    if (
      message.status === "scheduled" ||
      message.status === "queued" ||
      message.status === "sending"
    ) {
      throw new TidingsError(
        "conflict",
        `The message is ${message.status}: cancel it, or wait until it is sent.`,
      );
    }
    // An erasure under way must find the stored response.
    if (message.body === null) return messageResource(tx.touch(messages, message));
    await checkNoRunInProgress(tx, message);
    await redactSession(tx, message);

    const redacted = tx.update(messages, message, {
      body: null,
      media: [],
      updated_at: tx.now,
    });
    await removeWords(tx, message);
    await mailRedaction(tx, redacted);
    writeTimeline(tx, message, redacted, { type: "redaction", at: iso(tx.now) });
    const { id: message_id, contact_id, conversation_id, channel } = redacted;
    const facts = { message_id, contact_id, conversation_id, channel };
    appendEvent(tx, messageRedacted, facts, redacted);
    const received = await tx.get(eventById, [receivedEventId(message.id)]);
    const data = { ...received?.data, body: "", media: [] };
    await rewriteEvents(tx, [{ event: received, data }]);
    const owners = await ownersOf(tx, redacted);
    if (!(await removeQuotes(tx, redacted, owners, services.historyChunks))) {
      await arm(tx, redactJob(redacted, tx.now));
    }
    await eraseConsumerErrorsOfKeys(tx, [
      message.conversation_id,
      ...owners.map((each) => each.id),
    ]);
    if (message.idempotency_key !== null) {
      const stored = await tx.get(idempotencyByKey, [message.idempotency_key]);
      if (stored?.subject_id === id) tx.update(idempotency, stored, { response: null });
    }
    // Stored responses about the conversation may show the start of the message. A command that
    // stores another one meanwhile writes the message, and so conflicts.
    await eraseAllResponses(tx, id);
    await eraseAllResponses(tx, message.conversation_id);
    return messageResource(redacted);
  },
};

/**
 * @throws TidingsError `conflict` while a run is in progress that may quote the message, because it
 * needs the text that it has read
 */
async function checkNoRunInProgress(tx: Tx, message: MessageRow): Promise<void> {
  const { conversation_id } = message;
  // Held: a run that begins meanwhile writes the conversation, and one that pauses writes the job.
  const [conversation] = await Promise.all([
    tx.get(conversationById, [conversation_id], { hold: true }),
    findJob(tx, { kind: "turn", key: { conversation_id } }, { hold: true }),
  ]);
  // In this order: an approval writes nothing that is held if the job is already due again.
  const waiting = await tx.list(awaitingRuns, [conversation_id], maxInProgress);
  const lists = [waiting, await tx.list(openRuns, [conversation_id], maxInProgress)];
  const isCut = lists.some(({ length }) => length === maxInProgress);
  const moved_count = conversation?.moved_count ?? null;
  const inProgress = lists.flat().find((run) => isCut || mayQuote(run, message, moved_count));
  if (inProgress === undefined) return;
  const what =
    inProgress.status === "awaiting_approval"
      ? "approve or deny its action"
      : "wait until it has ended";
  throw new TidingsError("conflict", `An agent's run may quote the message: ${what}.`, {
    conflictingId: inProgress.id,
  });
}
