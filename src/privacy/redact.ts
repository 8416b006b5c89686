import {
  completedEventId,
  eventById,
  type EventRow,
  events,
  handoffEventId,
  receivedEventId,
} from "../events/index.ts";
import { type ById, byIdSchema, iso, notFound, TidingsError } from "../kernel/index.ts";
import {
  type Message,
  messageById,
  messageResource,
  type MessageRow,
  messages,
  writeTimeline,
} from "../messages/index.ts";
import {
  mayQuote,
  runResource,
  type RunRow,
  runs,
  runsOfConversation,
  wordless,
} from "../agents/index.ts";
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
import { rewriteDeliveries } from "../webhooks/index.ts";

/** Of one message, under keys of their own: edits, a cancellation, simulated receipts. */
const mostAnswers = 10_000;
/** Of one conversation. */
const mostRuns = 10_000;
/** Of a contact, what was noticed about it. */
const mostNoticed = 10_000;

/**
 * Takes a message's words and media out of the message, its events and its stored answer, all words out of the runs of agents that may
 * quote it, and what their models noticed in it. The audit stays.
 */
export const redactMessage: Command<ById, Message> = {
  kind: "command",
  name: "messages.redact",
  input: () => byIdSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id }, { services }) {
    // Held, for one that is redacted already: an erasure that commits meanwhile must find what is remembered of the answer.
    const message = await tx.get(messageById, [id], { hold: true });
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
    if (message.body === null) return messageResource(message);
    const quoting = await runsQuoting(tx, message);

    const redacted = tx.update(messages, message, { body: null, media: [], updated_at: tx.now });
    writeTimeline(tx, services.drawId, message, redacted, {
      type: "redaction",
      at: iso(tx.now),
    });
    const received = await tx.get(eventById, [receivedEventId(message.id)]);
    if (received !== undefined) {
      await rewriteDeliveries(
        tx,
        tx.update(events, received, { data: { ...received.data, body: "", media: [] } }),
      );
    }
    if (message.idempotency_key !== null) {
      const stored = await tx.get(idempotencyByKey, [message.idempotency_key]);
      if (stored?.subject_id === id) tx.update(idempotency, stored, { response: null });
    }
    for (const run of quoting) await redactRun(tx, run);
    for (const noticed of await tx.list(observations.primary, [message.contact_id], mostNoticed)) {
      const isQuote = noticed.source === "model" || noticed.source === "rule";
      if (isQuote && noticed.evidence_message_ids.includes(message.id)) {
        tx.remove(observations, noticed);
      }
    }
    // What was answered about its conversation may show its first words too.
    for (const shown of [id, message.conversation_id, ...quoting.map((run) => run.id)]) {
      for (const stored of await tx.list(idempotencyAlsoShowing, [shown], mostAnswers)) {
        tx.update(idempotency, stored, { response: null });
      }
    }
    return messageResource(redacted);
  },
};

/** @throws TidingsError `conflict` while one of them goes on: it needs what it has read */
async function runsQuoting(tx: Tx, message: MessageRow): Promise<Seen<RunRow>[]> {
  const ran = await tx.list(runsOfConversation, [message.conversation_id], mostRuns);
  const quoting = ran.filter((run) => mayQuote(run, message));
  const open = quoting.find(({ finished_at }) => finished_at === null);
  if (open === undefined) return quoting;
  const what =
    open.status === "awaiting_approval" ? "approve or deny its action" : "wait until it has ended";
  throw new TidingsError("conflict", `An agent's run may quote the message: ${what}.`, {
    conflictingId: open.id,
  });
}

async function redactRun(tx: Tx, run: Seen<RunRow>): Promise<void> {
  const redacted = tx.update(runs, run, wordless(run));
  const [completed, handedOff] = await Promise.all([
    tx.get(eventById, [completedEventId(run.id)]),
    tx.get(eventById, [handoffEventId(run.id)]),
  ]);
  await rewrite(tx, completed, { run: runResource(redacted) });
  await rewrite(tx, handedOff, { ...handedOff?.data, reason: "", summary: "" });
}

async function rewrite(tx: Tx, event: Seen<EventRow> | undefined, data: object): Promise<void> {
  // An erasure has been at it already.
  if (event === undefined || event.contact_id === null) return;
  await rewriteDeliveries(tx, tx.update(events, event, { data }));
}
