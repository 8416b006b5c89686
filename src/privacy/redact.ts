import {
  completedEventId,
  eventById,
  type EventRow,
  events,
  handoffEventId,
  receivedEventId,
} from "../events/index.ts";
import {
  type ById,
  byIdSchema,
  iso,
  type MessageId,
  millis,
  notFound,
  TidingsError,
} from "../kernel/index.ts";
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
  redactedRun,
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
import { arm, type Claim, finish, type JobOrder } from "../queue/index.ts";
import type { Tx } from "../store/index.ts";
import { rewriteDeliveries } from "../webhooks/index.ts";

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
 * models made from it. The audit trail stays.
 */
export const redactMessage: Command<ById, Message> = {
  kind: "command",
  name: "messages.redact",
  input: () => byIdSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id }, { services }) {
    // Locked even when the message is already redacted: a concurrent erasure must find the stored
    // answer.
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
    refuseOpenRun(quoting);

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
    await removeCopies(tx, message, quoting, () => true);
    await arm(tx, redactJob(message, tx.now + maxCommitMs, tx.now));
    return messageResource(redacted);
  },
};

/**
 * The job that removes the copies of a redacted message's text that the redaction did not see.
 * `before` is a time after the redaction's commit: a run that begins later has read no text.
 */
function redactJob(
  { account_id, mode, id: message_id }: Pick<MessageRow, "account_id" | "mode" | "id">,
  before: number,
  due_at: number,
): JobOrder<"redact"> {
  const lane = { kind: "redact", slow: false } as const;
  const key = { message_id, before: iso(before) };
  return { kind: "redact", key, account_id, mode, lane, due_at };
}

/** The longest time that a redaction may take to commit, in milliseconds. */
const maxCommitMs = 10_000;
/** How long to wait for a run that may quote the message to end, in milliseconds. */
const openRunMs = 60_000;

/**
 * Removes the copies of a redacted message's text once more. A command that committed shortly
 * before the redaction may have stored a copy after the redaction looked for copies. None can
 * follow: a command that shows the message holds it, so it runs again and finds no text, and a run
 * that begins later reads none.
 */
export async function finishRedaction(tx: Tx, claim: Claim<"redact">): Promise<void> {
  const { message_id, before } = claim.key;
  const message = await tx.get(messageById, [message_id]);
  if (message === undefined) return finish(tx, claim);
  const latest = Math.min(millis(before), tx.now);
  const quoting = (await runsQuoting(tx, message)).filter(({ created_at }) => created_at <= latest);
  if (openRun(quoting) !== undefined) {
    await arm(tx, redactJob(message, latest, tx.now + openRunMs));
    return finish(tx, claim);
  }
  // Responses that were stored after the redaction, such as its own, show no text and stay.
  await removeCopies(tx, message, quoting, (response) => showsText(response, message_id));
  return finish(tx, claim);
}

/**
 * Removes what runs, observations and stored responses contain of a message. `isCopy` tells which
 * responses about the message or its conversation contain text of it.
 */
async function removeCopies(
  tx: Tx,
  message: MessageRow,
  quoting: readonly Seen<RunRow>[],
  isCopy: (response: string) => boolean,
): Promise<void> {
  for (const run of quoting) {
    await redactRun(tx, run);
    await forgetResponses(tx, run.id, () => true);
  }
  for (const noticed of await tx.list(
    observations.primary,
    [message.contact_id],
    maxObservations,
  )) {
    const isQuote = noticed.source === "model" || noticed.source === "rule";
    if (isQuote && noticed.evidence_message_ids.includes(message.id)) {
      tx.remove(observations, noticed);
    }
  }
  await forgetResponses(tx, message.id, isCopy);
  // Responses about the conversation may show the start of the message.
  await forgetResponses(tx, message.conversation_id, isCopy);
}

async function forgetResponses(
  tx: Tx,
  shown: string,
  isCopy: (response: string) => boolean,
): Promise<void> {
  for (const stored of await tx.list(idempotencyAlsoShowing, [shown], maxAnswers)) {
    if (stored.response === null || !isCopy(stored.response)) continue;
    tx.update(idempotency, stored, { response: null });
  }
}

/** Whether a response shows the message with its text, as a message or in a conversation. */
function showsText(response: string, id: MessageId): boolean {
  if (!response.includes(id)) return false;
  let found = false;
  JSON.parse(response, (_, value: unknown) => {
    if (typeof value !== "object" || value === null || !("id" in value) || value.id !== id) {
      return value;
    }
    found ||= "body" in value && value.body !== null;
    found ||= "preview" in value && value.preview !== "";
    return value;
  });
  return found;
}

/** The runs that may contain text of the message. */
async function runsQuoting(tx: Tx, message: MessageRow): Promise<Seen<RunRow>[]> {
  const ran = await tx.list(runsOfConversation, [message.conversation_id], maxRuns);
  return ran.filter((run) => mayQuote(run, message));
}

const openRun = (quoting: readonly RunRow[]): RunRow | undefined =>
  quoting.find(({ finished_at }) => finished_at === null);

/** Throws if a run is open: it needs the text that it has read. */
function refuseOpenRun(quoting: readonly RunRow[]): void {
  const open = openRun(quoting);
  if (open === undefined) return;
  const what =
    open.status === "awaiting_approval" ? "approve or deny its action" : "wait until it has ended";
  throw new TidingsError("conflict", `An agent's run may quote the message: ${what}.`, {
    conflictingId: open.id,
  });
}

async function redactRun(tx: Tx, run: Seen<RunRow>): Promise<void> {
  const redacted = tx.update(runs, run, redactedRun(run));
  const [completed, handedOff] = await Promise.all([
    tx.get(eventById, [completedEventId(run.id)]),
    tx.get(eventById, [handoffEventId(run.id)]),
  ]);
  await rewrite(tx, completed, { run: runResource(redacted) });
  await rewrite(tx, handedOff, { ...handedOff?.data, reason: "", summary: "" });
}

async function rewrite(tx: Tx, event: Seen<EventRow> | undefined, data: object): Promise<void> {
  // An erasure has already rewritten the event.
  if (event === undefined || event.contact_id === null) return;
  await rewriteDeliveries(tx, tx.update(events, event, { data }));
}
