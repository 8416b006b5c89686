/**
 * Which of the carrier's messages belongs to an attempt. A carrier that does not know attempt ids
 * lists the messages that look like the attempt's (`alike`). The attempt's message is the only one
 * of them that no other attempt owns or may own.
 */
import type { LookupAnswer } from "../../ports/index.ts";
import { scan, unscoped, type Reads, type Tx } from "../../store/index.ts";
import {
  attemptByProviderId,
  attemptsOfMessage,
  messagesOfContact,
  type AttemptRow,
  type MessageRow,
} from "../rows.ts";

/** What a look-up found out about one attempt. */
export type Finding = Exclude<LookupAnswer, { outcome: "alike" }>;

/** The maximum number of messages, and of attempts of each, that are compared with an attempt. */
const maxOthers = 100;
/** The maximum number of the contact's messages that are searched for these. */
const maxSearched = 10_000;
/**
 * A carrier's message belongs to an attempt of about the same time. Attempts this far apart, in
 * milliseconds, do not own each other's messages.
 */
const apartMs = 3_600_000;

/**
 * Whether another attempt of about the same time may own a message that the carrier lists. Its
 * provider id is unknown, and it belongs to another message to the recipient, which is being sent
 * now or has the same content. In the second case, the status of that message does not matter:
 * after the answer was lost, it may have been sent over another carrier or canceled.
 *
 * Call this after the look-up, because attempts that begin later own none of the listed messages.
 * If the search does not end within its limits, there may be such an attempt.
 */
export async function hasRival(
  reads: Reads,
  message: MessageRow,
  { transport, started_at }: AttemptRow,
): Promise<boolean> {
  const search = {
    index: messagesOfContact,
    prefix: [message.contact_id],
    order: "descending",
    where: { direction: "outbound", to: message.to },
    // A message changes when its attempt begins. So one that last changed long before this attempt
    // began has no attempt of about the same time.
    keep: (each: MessageRow) =>
      each.id !== message.id &&
      each.attempts > 0 &&
      each.updated_at > started_at - apartMs &&
      (each.status === "sending" || isAlike(each, message)),
    limit: maxOthers,
  } as const;
  const { rows, more } = await scan(reads, search, maxSearched);
  if (more) return true;
  const made = await reads.lists(
    attemptsOfMessage,
    rows.map(({ id }) => [id]),
    maxOthers,
  );
  return made
    .flat()
    .some(
      (each) =>
        each.transport === transport &&
        each.provider_message_id === null &&
        (each.outcome === "pending" || each.outcome === "ambiguous") &&
        Math.abs(each.started_at - started_at) < apartMs,
    );
}

/** Whether two messages have the same content. That of a redacted message is unknown. */
function isAlike(a: MessageRow, b: MessageRow): boolean {
  if (a.body === null || b.body === null) return true;
  return a.body === b.body && JSON.stringify(a.media) === JSON.stringify(b.media);
}

/** The maximum number of the carrier's messages among which an attempt is identified. */
const maxAlike = 100;

/**
 * Finds the attempt's message among those that the carrier lists: it is the only one that no other
 * attempt owns. The result is `unknown` if none or more than one is left, or if there are too many.
 */
export async function identify(
  tx: Tx,
  { id, transport }: AttemptRow,
  answer: LookupAnswer,
): Promise<Finding> {
  if (answer.outcome !== "alike") return answer;
  const { messages } = answer;
  if (messages.length > maxAlike) return { outcome: "unknown" };
  const owners = await Promise.all(
    messages.map(({ provider_message_id }) =>
      unscoped(tx).get(attemptByProviderId, [transport, provider_message_id]),
    ),
  );
  const free = messages.filter((_, i) => owners[i] === undefined || owners[i].id === id);
  const [only] = free;
  return only === undefined || free.length > 1
    ? { outcome: "unknown" }
    : { outcome: "sent", ...only };
}
