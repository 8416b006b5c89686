/** The engine's own laws. They read the public API of a world. */
import { type Event, TidingsError } from "../../entry.ts";
import type { Finding, World } from "../world/types.ts";
import { conversationsInOrder } from "./conversations.ts";
import { erasedMeansGone } from "./erasure.ts";
import { noGapInTheEvents } from "./events.ts";
import { allCalls, eventsIn, messageOf, scopesOf } from "./reads.ts";
import { everyEventToItsWebhooks } from "./webhooks.ts";

/**
 * Laws of the engine, for `world.check`. Check them after the world has settled. Laws about
 * carriers look only at scripted ones.
 */
export type Invariants = {
  /**
   * No message is accepted twice, by one carrier or by two. Routes with
   * `fallBackAfter: ["ambiguous"]` may break this law.
   */
  readonly nothingHandedOverTwice: EngineLaw;
  /**
   * No hand-over begins after the recipient opted out. Replies of the engine itself, such as the
   * confirmation of the opt-out, are exempt.
   */
  readonly nothingAfterAnOptOut: EngineLaw;
  /**
   * If a receipt proves that a message was delivered, the message has the status `delivered` or
   * `read`.
   */
  readonly statusFollowsTheEvidence: EngineLaw;
  /** The carrier gets each message with the recipient and the text that the engine stored. */
  readonly handedOverAsWritten: EngineLaw;
  /**
   * The log has each event once, and at most one `message.sent`, one `message.failed` and one
   * `message.received` for each message. Sample events (`sandbox.event`) may break this law.
   */
  readonly everyEventOnce: EngineLaw;
  /**
   * The messages of a conversation reach the carrier in the order of the conversation. Messages
   * that were ever scheduled or ambiguous are exempt: the others do not wait for them.
   */
  readonly conversationsInOrder: EngineLaw;
  /**
   * The log has an event for the outcome of each message, and a stream has every event of the log,
   * in the same order.
   */
  readonly noGapInTheEvents: EngineLaw;
  /**
   * Each event has a delivery for each webhook that subscribes to it. If a delivery succeeded, the
   * receiver took the event, and the engine posts it again only if you redeliver it.
   */
  readonly everyEventToItsWebhooks: EngineLaw;
  /**
   * The messages of an erased contact are gone, and no event and no delivery has its number, its
   * name or its words.
   */
  readonly erasedMeansGone: EngineLaw;
  /** No engine logged an error, except when something outside the engine failed. */
  readonly noUnexpectedErrors: EngineLaw;
  /** Nothing is left to do. */
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
  everyEventOnce,
  conversationsInOrder,
  noGapInTheEvents,
  everyEventToItsWebhooks,
  erasedMeansGone,
  noUnexpectedErrors,
  nothingLeftToDo,
};

async function nothingHandedOverTwice({ carriers }: World): Promise<Finding | undefined> {
  const seen = new Set<string>();
  for (const { message } of carriers.flatMap(({ handedOver }) => handedOver)) {
    const { message_id: id } = message;
    if (seen.has(id)) {
      return { description: `the carrier accepted ${id} more than once`, about: [id] };
    }
    seen.add(id);
  }
  return undefined;
}

async function nothingAfterAnOptOut(world: World): Promise<Finding | undefined> {
  for (const scope of await scopesOf(world)) {
    const events = (await eventsIn(world, scope)).filter(isConsentChange);
    for (const call of scope.calls) {
      const { message, started_at } = call;
      // Clocks may differ, so an event may look older than it is.
      const known = events.filter(
        ({ created_at, data }) =>
          data.address === message.to &&
          (data.sender === null || data.sender === message.from) &&
          Date.parse(created_at) < started_at - world.clockToleranceMs,
      );
      const undecided = events.some(
        ({ created_at, type, data }) =>
          type === "contact.opted_in" &&
          data.address === message.to &&
          Math.abs(Date.parse(created_at) - started_at) <= world.clockToleranceMs,
      );
      if (known.at(-1)?.type !== "contact.opted_out" || undecided) continue;
      const stored = await messageOf(world, call);
      if (stored === undefined || stored.author.type === "system") continue;
      const about = [message.message_id];
      return { description: `${message.message_id} went out after an opt-out`, about };
    }
  }
  return undefined;
}

async function statusFollowsTheEvidence(world: World): Promise<Finding | undefined> {
  for (const call of allCalls(world)) {
    const stored = await messageOf(world, call);
    if (stored === undefined) continue;
    const { id, status } = stored;
    const isDelivered = call.receipts.some(
      ({ acknowledged, receipt }) =>
        acknowledged && (receipt.status === "delivered" || receipt.status === "read"),
    );
    if (isDelivered && status !== "delivered" && status !== "read") {
      const description = `${id} is ${status}, though a receipt says that it was delivered`;
      return { description, about: [id] };
    }
  }
  return undefined;
}

async function handedOverAsWritten(world: World): Promise<Finding | undefined> {
  for (const call of allCalls(world)) {
    const stored = await messageOf(world, call);
    const { to, body, message_id: id } = call.message;
    if (stored === undefined || stored.body === null) continue;
    if (stored.to !== to || stored.body !== body) {
      const description = `the carrier got "${body}" to ${to} for ${id}, which is another message`;
      return { description, about: [id] };
    }
  }
  return undefined;
}

async function everyEventOnce(world: World): Promise<Finding | undefined> {
  for (const scope of await scopesOf(world)) {
    const seen = new Set<string>();
    for (const event of await eventsIn(world, scope)) {
      const names: string[] = [event.id];
      if (isOncePerMessage(event)) names.push(`${event.type} of ${event.data.message_id}`);
      const twice = names.find((name) => seen.has(name));
      if (twice !== undefined) {
        return { description: `the log has ${twice} twice`, about: [event.id] };
      }
      for (const name of names) seen.add(name);
    }
  }
  return undefined;
}

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

async function nothingLeftToDo(world: World): Promise<Finding | undefined> {
  const pending = await world.pending();
  return pending.length === 0 ? undefined : { description: pending.join("; ") };
}

type OncePerMessage = Event<"message.sent" | "message.failed" | "message.received">;

function isOncePerMessage(event: Event): event is OncePerMessage {
  return (
    event.type === "message.sent" ||
    event.type === "message.failed" ||
    event.type === "message.received"
  );
}

type ConsentChange = Event<"contact.opted_out" | "contact.opted_in">;

function isConsentChange(event: Event): event is ConsentChange {
  return event.type === "contact.opted_out" || event.type === "contact.opted_in";
}
