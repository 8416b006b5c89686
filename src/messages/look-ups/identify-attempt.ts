/**
 * Which of the carrier's messages belongs to an attempt. A carrier that does not know attempt ids
 * lists the messages that look like the attempt's (`alike`). It is one of them if no other attempt
 * owns it or may own it.
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
 * Whether another attempt of about the same time may own a message that the carrier lists: its
 * provider id is unknown, and it sends another message to the recipient now, or has lost its answer
 * to a message with the same content. The status of that message does not matter: it may be sent
 * over another carrier or canceled after the answer was lost. Attempts that begin after the carrier
 * listed its messages own none of them, so this is read after the look-up. If the search does not
 * end within its limits, there may be such an attempt.
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
    // A message changes when its attempt begins, so one that last changed earlier has no rival.
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

/** The maximum number of candidates. With more, the attempt cannot be identified. */
const maxAlike = 100;

/**
 * Identifies the attempt among the carrier's messages that look the same: it is the only one that
 * no other attempt owns. The result is `unknown` if no candidate or more than one is left.
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
