/** The engine's own laws. They read the public API of a world. */
import { TidingsError } from "../../entry.ts";
import type { Finding, World } from "../world/types.ts";
import { conversationsInOrder } from "./conversations.ts";
import { erasedMeansGone } from "./erasure.ts";
import { everyEventOnce, noGapInTheEvents } from "./events.ts";
import {
  handedOverAsWritten,
  nothingAfterAnOptOut,
  nothingHandedOverTwice,
  statusFollowsTheEvidence,
} from "./hand-overs.ts";
import { everyTextOnce } from "./texts.ts";
import { nothingLeftToDo } from "./unfinished-work.ts";
import { everyEventToItsWebhooks } from "./webhooks.ts";

/**
 * Laws of the engine, for `world.check`. Check them after the world has settled. Laws about
 * carriers look only at scripted ones.
 */
export type Invariants = {
  /**
   * No message is accepted twice, by one carrier or by two. Routes with `fallBackAfter` may break
   * this law.
   */
  readonly nothingHandedOverTwice: EngineLaw;
  /**
   * No hand-over begins after the recipient opted out. Replies of the engine itself, such as the
   * confirmation of the opt-out, are exempt.
   */
  readonly nothingAfterAnOptOut: EngineLaw;
  /**
   * If a receipt proves that a message was delivered, the message has the status `delivered` or
   * `read`. A receipt with the carrier's id is no proof if the answer with that id was lost and the
   * carrier answers no look-ups. A message is `sent`, `undelivered`, `delivered` or `read` only if
   * its carrier reported that. Receipts and sample messages that you add (`sandbox.receipts`,
   * `sandbox.seed`) may break this law.
   */
  readonly statusFollowsTheEvidence: EngineLaw;
  /**
   * The carrier gets each message with the sender, the recipient, the text and the files that the
   * engine stored, and the engine keeps it until its contact is erased. A text that the carrier did
   * not accept may have been edited since. No hand-over begins after a redaction.
   */
  readonly handedOverAsWritten: EngineLaw;
  /**
   * Each text from a phone is stored as one message, with its sender, its text and its files.
   * After an erasure, the law looks only for texts that are stored twice or changed. A reset of the
   * sandbox, and texts to an address before it has a sender, may break this law.
   */
  readonly everyTextOnce: EngineLaw;
  /**
   * The log has each event once, and at most one `message.sent`, one `message.failed` and one
   * `message.received` for each message. Sample events (`sandbox.event`) may break this law.
   */
  readonly everyEventOnce: EngineLaw;
  /**
   * The messages of a conversation reach the carrier in the order of the conversation, also in
   * later attempts. The others do not wait for messages that were ever scheduled or ambiguous, or
   * that a route tries again after they were sent, so these are exempt.
   */
  readonly conversationsInOrder: EngineLaw;
  /**
   * The log has an event for the outcome of each message, and its latest status. A stream has every
   * event of the log, in the same order.
   */
  readonly noGapInTheEvents: EngineLaw;
  /**
   * Each event has one delivery for each webhook that subscribes to it. If a delivery succeeded,
   * the receiver took the event, and the engine posts it again only if you redeliver it. Two
   * engines may post it at the same time if one has lost its job.
   */
  readonly everyEventToItsWebhooks: EngineLaw;
  /**
   * The messages and conversations of an erased contact are gone, and no event and no delivery has
   * its data or its words. Sample events (`sandbox.event`) may break this law.
   */
  readonly erasedMeansGone: EngineLaw;
  /** No engine logged an error, except when something outside the engine failed. */
  readonly noUnexpectedErrors: EngineLaw;
  /**
   * Nothing is left to do, and no message, delivery or run of an agent is unfinished without a job
   * that continues it.
   */
  readonly nothingLeftToDo: EngineLaw;
};

/** A law of the engine. Returns what is wrong, or undefined. */
export type EngineLaw = (world: World) => Promise<Finding | undefined>;

/**
 * The engine's own laws: `await world.check(...Object.values(invariants))`. They use the public
 * API, so they also work on your own storage.
 */
export const invariants: Invariants = {
  nothingHandedOverTwice,
  nothingAfterAnOptOut,
  statusFollowsTheEvidence,
  handedOverAsWritten,
  everyTextOnce,
  everyEventOnce,
  conversationsInOrder,
  noGapInTheEvents,
  everyEventToItsWebhooks,
  erasedMeansGone,
  noUnexpectedErrors,
  nothingLeftToDo,
};

async function noUnexpectedErrors({ log }: World): Promise<Finding | undefined> {
  for (const { level, engine, facts, message } of log) {
    if (level !== "error") continue;
    const error = Object.values(facts).find((each) => each instanceof Error);
    if (error instanceof TidingsError && error.retryable) continue;
    const reason = error === undefined ? "" : `: ${error.name}: ${error.message}`;
    return { description: `${engine} logged "${message}"${reason}`, about: [engine] };
  }
  return undefined;
}
