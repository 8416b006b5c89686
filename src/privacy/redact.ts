import {
  appendEvent,
  completedEventId,
  eraseConsumerErrorsOfKeys,
  eventById,
  type EventRow,
  handoffEventId,
  receivedEventId,
  rewriteEvent,
} from "../events/index.ts";
import { type ById, byIdSchema, iso, notFound, TidingsError } from "../kernel/index.ts";
import {
  type Message,
  messageById,
  messageResource,
  messageRedacted,
  type MessageRow,
  messages,
  removeWords,
  writeTimeline,
} from "../messages/index.ts";
import {
  mayQuote,
  runResource,
  type RunRow,
  runs,
  runsOfConversation,
  redactedRun,
  redactSession,
} from "../agents/index.ts";
import { type ContactRow, contactsMergedInto, findSurvivor } from "../contacts/index.ts";
import { conversationById } from "../conversations/index.ts";
import { observations } from "../observations/index.ts";
import {
  type Command,
  idempotency,
  idempotencyAlsoShowing,
  idempotencyByKey,
  showsOutput,
} from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { mailRedaction } from "../webchat/index.ts";
import { rewriteDeliveries } from "../webhooks/index.ts";
import { maxMerged } from "./merge-rules.ts";

/**
 * The maximum number of stored responses about one message: edits, a cancellation and simulated
 * receipts.
 */
const maxAnswers = 10_000;
/** The maximum number of runs of one conversation. */
const maxRuns = 10_000;
/** The maximum number of observations of a contact. */
const maxObservations = 10_000;

/**
 * Removes the text and media of a message from the message, its events and its stored responses. It
 * also removes all text from the agent runs that may quote the message, and the observations that
 * models made from it. It ends the playbooks whose slots may quote it. The audit trail stays.
 */
export const redactMessage: Command<ById, Message> = {
  kind: "command",
  name: "messages.redact",
  input: () => byIdSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id }, { services }) {
    const message = await tx.get(messageById, [id]);
    if (message === undefined) throw notFound("message");
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
    // Held: a run that begins meanwhile writes the conversation.
    await tx.get(conversationById, [message.conversation_id], { hold: true });
    const quoting = await runsQuoting(tx, message);
    await redactSession(tx, message);

    const redacted = tx.update(messages, message, {
      body: null,
      media: [],
      updated_at: tx.now,
    });
    await removeWords(tx, message);
    await mailRedaction(tx, redacted);
    writeTimeline(tx, services.drawId, message, redacted, {
      type: "redaction",
      at: iso(tx.now),
    });
    const { id: message_id, contact_id, conversation_id, channel } = redacted;
    const facts = { message_id, contact_id, conversation_id, channel };
    appendEvent(tx, services.drawId, messageRedacted, facts, redacted);
    const [received, ofRuns] = await Promise.all([
      tx.get(eventById, [receivedEventId(message.id)]),
      Promise.all(quoting.map((run) => redactRun(tx, run))),
    ]);
    const withoutText = { event: received, data: { ...received?.data, body: "", media: [] } };
    await rewrite(tx, [withoutText, ...ofRuns.flat()]);
    await eraseConsumerErrorsOfKeys(tx, [message.conversation_id, message.contact_id]);
    if (message.idempotency_key !== null) {
      const stored = await tx.get(idempotencyByKey, [message.idempotency_key]);
      if (stored?.subject_id === id) tx.update(idempotency, stored, { response: null });
    }
    await removeObservations(tx, message);
    // Stored responses about the conversation may show the start of the message. A command that
    // stores another one meanwhile writes the message, and so conflicts.
    const shown = [id, message.conversation_id, ...quoting.map((run) => run.id)];
    const answers = await Promise.all(
      shown.map((each) => tx.list(idempotencyAlsoShowing, [each], maxAnswers)),
    );
    for (const stored of answers.flat()) tx.update(idempotency, stored, { response: null });
    return messageResource(redacted);
  },
};

/**
 * @throws TidingsError `conflict` while one of the runs is in progress, because it needs the text
 * that it has read
 */
async function runsQuoting(tx: Tx, message: MessageRow): Promise<Seen<RunRow>[]> {
  const ran = await tx.list(runsOfConversation, [message.conversation_id], maxRuns);
  const quoting = ran.filter((run) => mayQuote(run, message));
  const open = quoting.find(({ finished_at }) => finished_at === null);
  if (open === undefined) return quoting;
  const what =
    open.status === "awaiting_approval" ? "approve or deny its action" : "wait until it has ended";
  throw new TidingsError("conflict", `An agent's run may quote the message: ${what}.`, {
    conflictingId: open.id,
  });
}

/**
 * Removes the observations that models and rules made from a message. While a merge moves a
 * history, the message and its observations can belong to different contacts: the survivor and the
 * contacts that were merged into it.
 */
async function removeObservations(tx: Tx, { id, contact_id }: MessageRow): Promise<void> {
  // Held: a merge that changes which contact is the survivor writes these rows.
  const survivor = await findSurvivor(tx, contact_id, { hold: true });
  // An erasure removes the history of a contact that is gone.
  if (survivor === undefined) return;
  const observationsOf = (contact: ContactRow) =>
    tx.list(observations.primary, [contact.id], maxObservations);
  const merged = await tx.list(contactsMergedInto, [survivor.id], maxMerged);
  const left = await Promise.all(merged.map(observationsOf));
  // Read last: an observation that moves meanwhile is then found here.
  const own = await observationsOf(survivor);
  for (const noticed of [...left.flat(), ...own]) {
    const isQuote = noticed.source === "model" || noticed.source === "rule";
    if (isQuote && noticed.evidence_message_ids.includes(id)) tx.remove(observations, noticed);
  }
}

/** An event, if it is still there, and the data that is left of it. */
interface Rewrite {
  readonly event: Seen<EventRow> | undefined;
  readonly data: object;
}

/** Redacts a run. Returns what is left of its events. */
async function redactRun(tx: Tx, run: Seen<RunRow>): Promise<readonly Rewrite[]> {
  const redacted = tx.update(runs, run, redactedRun(run));
  const [completed, handedOff] = await Promise.all([
    tx.get(eventById, [completedEventId(run.id)]),
    tx.get(eventById, [handoffEventId(run.id)]),
  ]);
  return [
    { event: completed, data: { run: runResource(redacted) } },
    { event: handedOff, data: { ...handedOff?.data, reason: "", summary: "" } },
  ];
}

/** Replaces the data of events, wherever it or a quote of it is stored. */
async function rewrite(tx: Tx, all: readonly Rewrite[]): Promise<void> {
  const rewritten = all.flatMap(({ event, data }) =>
    // An erasure has already rewritten the event.
    event === undefined || event.contact_id === null ? [] : [rewriteEvent(tx, event, { data })],
  );
  await rewriteDeliveries(tx, rewritten);
}
