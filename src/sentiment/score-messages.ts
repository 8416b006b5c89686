import {
  addScore,
  contactReference,
  contacts,
  findSurvivor,
  neutralSentiment,
  sentimentOf,
  validScore,
} from "../contacts/index.ts";
import { appendEvent } from "../events/index.ts";
import { withDeadline, type ContactId, type Scope } from "../kernel/index.ts";
import { messageById, onMessageReceived, type MessageRow } from "../messages/index.ts";
import {
  defineHook,
  onHook,
  runHook,
  type Hook,
  type HookHandler,
  type Runtime,
  type Services,
} from "../operations/index.ts";
import { analyzerName, withoutMessage } from "../ports/index.ts";
import {
  arm,
  finish,
  renew,
  type Claim,
  type JobHandler,
  type JobOrder,
  type JobRun,
} from "../queue/index.ts";
import { background, type Tx } from "../store/index.ts";
import { sentimentChanged } from "./events.ts";
import { messageScoreById, messageScores, pendingScores, type MessageScoreRow } from "./rows.ts";

export const sentimentHookHandlers: readonly HookHandler[] = [
  onHook(onMessageReceived, async (tx, { message }, { scoresSentiment }) => {
    // A keyword says nothing about the contact's mood.
    if (scoresSentiment && message.keyword === null) await scoreLater(tx, message);
  }),
];

/** Schedules the scoring of an inbound message after this commit. */
async function scoreLater(tx: Tx, message: MessageRow): Promise<void> {
  const { contact_id, id: message_id } = message;
  tx.insert(messageScores, {
    contact_id,
    message_id,
    state: "pending",
    score: null,
    created_at: tx.now,
  });
  await arm(tx, scoreJob(message, contact_id, tx.now));
}

/**
 * The job that scores a contact's messages in order. It is armed for each message to score, and
 * when a merge moves unscored messages to the contact.
 */
export function scoreJob(
  { account_id, mode }: Scope,
  contact_id: ContactId,
  due_at: number,
): JobOrder<"score"> {
  // Only engines with an analyzer take jobs of this lane. Transports work the same way.
  const lane = { kind: "score", slow: false, remote: analyzerName, account_id, mode } as const;
  return { kind: "score", key: { contact_id }, account_id, mode, lane, due_at };
}

/** The maximum number of messages of one contact in one run. Then other jobs can run. */
const maxPerRun = 50;

/**
 * Scores a contact's messages in order. One transaction stores a score and reads the next message.
 * An engine without an analyzer marks pending messages as not scored.
 */
export function scoreMessages(runtime: Runtime): JobHandler<"score"> {
  const { store, services } = runtime;
  return async (claim, run) => {
    let scored: Scored | undefined;
    for (let i = 0; !run.abort.aborted; i++) {
      const isOver = i >= maxPerRun || run.stopping.aborted;
      const next = await store.commit(
        claim,
        async (tx) => {
          if (scored !== undefined) await recordScore(tx, scored.row, scored.score, services);
          return isOver ? finish(tx, claim, { againAt: tx.now }) : nextUnscored(tx, claim);
        },
        background,
      );
      if (next === undefined) return;
      scored = { row: next.row, score: await scoreOf(runtime, next, run) };
    }
  };
}

/** The next message to score. */
interface Unscored {
  readonly row: MessageScoreRow;
  /** Empty if the message or its text was erased. */
  readonly text: string;
}

interface Scored {
  readonly row: MessageScoreRow;
  readonly score: number | null;
}

/**
 * Returns the contact's oldest unscored message. If there is none, finishes the job. If the lease
 * was lost, returns undefined and changes nothing.
 */
async function nextUnscored(tx: Tx, claim: Claim<"score">): Promise<Unscored | undefined> {
  if ((await renew(tx, claim)) === undefined) return undefined;
  const [row] = await tx.list(pendingScores, [claim.key.contact_id], 1);
  if (row === undefined) {
    await finish(tx, claim);
    return undefined;
  }
  const message = await tx.get(messageById, [row.message_id]);
  return { row, text: message?.body ?? "" };
}

/**
 * The deadline of the analyzer, in milliseconds. It is short: an agent may wait for the score
 * before it answers.
 */
const scoreMs = 2_000;

async function scoreOf(
  { clock, logger, sentiment }: Runtime,
  { row, text }: Unscored,
  { abort }: JobRun,
): Promise<number | null> {
  if (sentiment === undefined || text === "") return null;
  try {
    const score = await withDeadline(
      clock,
      scoreMs,
      async () => sentiment.score(text),
      () => null,
      abort,
    );
    return validScore(score);
  } catch (error) {
    // Nothing is recorded then: the next holder of the job scores the message.
    if (abort.aborted) return null;
    logger.warn(
      { err: withoutMessage(error), message_id: row.message_id },
      "a message could not be scored",
    );
    return null;
  }
}

/** Runs when a message got its score, or when it is certain to get none. */
export const onMessageScored: Hook<{ readonly message: MessageRow }> = defineHook("message scored");

/**
 * Stores a score and updates the contact's sentiment state. If the message was already scored, or
 * its contact was erased or merged meanwhile, its pending row is gone. The score is then dropped,
 * so that it never counts twice.
 */
async function recordScore(
  tx: Tx,
  { contact_id, message_id }: MessageScoreRow,
  score: number | null,
  services: Services,
): Promise<void> {
  const row = await tx.get(messageScoreById, [contact_id, message_id]);
  if (row?.state !== "pending") return;
  tx.update(messageScores, row, { state: score === null ? "none" : "scored", score });
  const message = await tx.get(messageById, [message_id]);
  if (message !== undefined) await runHook(tx, services, onMessageScored, { message });
  // A merge moves the contact first and the history later. The score of a message that has not
  // moved yet counts for the surviving contact.
  const contact = score === null ? undefined : await findSurvivor(tx, row.contact_id);
  if (contact === undefined || score === null) return;
  const from =
    contact.sentiment_state === null ? neutralSentiment : sentimentOf(contact.sentiment_state);
  const sentiment_state = addScore(contact.sentiment_state, score);
  tx.update(contacts, contact, { sentiment_state });
  const to = sentimentOf(sentiment_state);
  if (from.label === to.label) return;
  const data = {
    contact: contactReference(contact.id, contact, message?.from ?? ""),
    from,
    to,
    message_id,
  };
  appendEvent(tx, sentimentChanged, data, {
    contact_id: contact.id,
    ...(message === undefined ? {} : { conversation_id: message.conversation_id }),
  });
}
