import { type AttemptRow, attemptsOfMessage, type MessageRow, attempts } from "./rows.ts";
import {
  isTransportError,
  nextAfter,
  matchRoute,
  type Next,
  type RouteFacts,
  type FailedAttempt,
  type ChosenRoute,
} from "./route-rules.ts";
import type { Services } from "../operations/index.ts";
import type { Mode } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";
import { arm, disarm } from "../queue/index.ts";
import { sendAgain } from "./attempt-rules.ts";
import type { MessageError, MessageStatus } from "./types.ts";
import type { Seen } from "../ports/index.ts";
import { moveMessage } from "./move.ts";
import { sendJob } from "./send-jobs.ts";

/** Higher than the number of attempts of any message. */
const maxTried = 100;

type Routing = Pick<Services, "routes" | "transports">;

/** Returns the route of a message whose sender belongs to transport `home`. */
function chooseRoute(
  { routes, transports }: Routing,
  message: RouteFacts & { readonly mode: Mode },
  home: string,
): ChosenRoute {
  return matchRoute(routes, message, home, (transport) =>
    transports.some(({ name, capabilities: { modes, channels } }) => {
      return (
        name === transport && modes.includes(message.mode) && channels.includes(message.channel)
      );
    }),
  );
}

/** Returns the first transport of a message. */
export function firstTransport(
  services: Routing,
  message: RouteFacts & { readonly mode: Mode },
  home: string,
): string {
  return services.routes.length === 0 ? home : chooseRoute(services, message, home).transports[0];
}

/** The outcome of an attempt that did not deliver the message. */
export type AttemptFailure = Pick<AttemptRow, "outcome" | "error" | "not_before">;

/**
 * Decides where to send a message after its last attempt failed at time `at`. Undefined if the
 * message stays with its transport: the engine has no routes or the message's route has no other
 * transport, the route does not fall back after this outcome, or the next attempt of a message that
 * may have been sent would be after its expiry.
 */
export async function findNext(
  tx: Tx,
  { routes, transports }: Routing,
  message: MessageRow,
  attempt: AttemptRow,
  failure: AttemptFailure,
  at = tx.now,
): Promise<Next | undefined> {
  if (routes.length === 0) return undefined;
  const route = chooseRoute({ routes, transports }, message, attempt.transport);
  const [first, ...others] = route.transports;
  if (others.length === 0 && first === attempt.transport) return undefined;
  const { outcome, error, not_before } = failure;
  if (outcome === "ambiguous" && !route.fallBackAfter.includes("ambiguous")) return undefined;
  if (outcome === "accepted" && !route.fallBackAfter.includes("undelivered")) return undefined;
  const before = await tx.list(attemptsOfMessage, [message.id], maxTried);
  const earlier = before.filter(({ number }) => number < attempt.number);
  const tried = [...earlier, { ...attempt, answered_at: at, outcome, error, not_before }];
  const keeper = tried.findLast(isMessageRefused)?.transport;
  const next = nextAfter(
    keeper === undefined ? route : { transports: [keeper] },
    tried.map(triedOf),
    tx.now,
  );
  // A message that may have been sent must not expire because another attempt would be too late.
  const isLate = next.next === "on" && next.at >= (message.expires_at ?? Infinity);
  return isLate && outcome !== "rejected" ? undefined : next;
}

/** Returns the attempts that may have sent the message, except the given one, oldest first. */
export async function findLostAttempts(
  tx: Tx,
  { id: message_id, attempts: made }: MessageRow,
  except?: AttemptRow,
): Promise<readonly AttemptRow[]> {
  if (made === 0 || (made === 1 && except !== undefined)) return [];
  const all = await tx.list(attemptsOfMessage, [message_id], maxTried);
  return all.filter(({ id, outcome }) => id !== except?.id && outcome === "ambiguous");
}

/** Whether a carrier may have the message: not every attempt was refused. */
export async function mayBeWithCarrier(
  tx: Tx,
  { id: message_id, attempts: made }: MessageRow,
): Promise<boolean> {
  if (made === 0) return false;
  const all = await tx.list(attemptsOfMessage, [message_id], maxTried);
  return all.some(({ outcome }) => outcome !== "rejected");
}

/**
 * Whether an attempt is the last one that may have sent the message: the later ones were refused.
 */
export async function isLastOpen(
  tx: Tx,
  { id: message_id, attempts: made, status }: MessageRow,
  { number }: AttemptRow,
): Promise<boolean> {
  const isOpen = status === "ambiguous" || status === "sent" || status === "unconfirmed";
  if (number === made || !isOpen) return number === made;
  const all = await tx.list(attemptsOfMessage, [message_id], maxTried);
  return all.every((each) => each.number <= number || each.outcome === "rejected");
}

/**
 * Whether a carrier refused an attempt because of the recipient or the message, for good or for
 * now. No other transport gets the message after that.
 */
function isMessageRefused({ outcome, error }: AttemptFailure): boolean {
  return outcome !== "ambiguous" && error !== null && !isTransportError(error.code);
}

/**
 * Returns an attempt for the choice of the next one. A transport that refused permanently, or may
 * have the message, is not tried again.
 */
function triedOf({
  transport,
  outcome,
  error,
  started_at,
  answered_at,
  not_before,
}: AttemptRow): FailedAttempt {
  const isOut = outcome !== "rejected" || error?.permanent === true;
  return { transport, isOut, at: answered_at ?? started_at, not_before };
}

/**
 * Returns the columns that change with the transport. A provider id belongs to one carrier only.
 */
export function transportPatch(message: MessageRow, next: Next | undefined): Partial<MessageRow> {
  if (next === undefined || next.next === "nowhere" || next.transport === message.transport) {
    return {};
  }
  return { transport: next.transport, provider_message_id: null };
}

/**
 * Returns the columns that name the carrier of a message after evidence of an attempt led to
 * `status`. They belong to the attempt that the status is based on, so they change with the status.
 * They also change if the evidence is the first to tell the provider id.
 */
export function carrierColumns(
  message: MessageRow,
  { transport, provider_message_id }: Pick<AttemptRow, "transport" | "provider_message_id">,
  status: MessageStatus,
): Partial<MessageRow> {
  const isFirstId = transport === message.transport && message.provider_message_id === null;
  return status !== message.status || isFirstId ? { transport, provider_message_id } : {};
}

/** The columns that clear the evidence of an attempt that a later one replaces. */
const noCarrierState = {
  carrier_state: null,
  sent_at: null,
  delivered_at: null,
  read_at: null,
} as const;

/**
 * Returns whether a receipt gave up an attempt that the carrier had accepted, and a retry followed.
 */
export function isGivenUp({ outcome, next_attempt_at }: AttemptRow): boolean {
  return outcome === "accepted" && next_attempt_at !== null;
}

/** Returns whether the message waits to be sent over another transport than that of the attempt. */
export function isHandedOn({ status, transport }: MessageRow, attempt: AttemptRow): boolean {
  return (status === "queued" || status === "scheduled") && transport !== attempt.transport;
}

/** An attempt on which a carrier reports, and its message. */
export interface Reported {
  readonly message: Seen<MessageRow>;
  readonly attempt: Seen<AttemptRow>;
}

/**
 * Queues a message for the next transport of its route after the carrier gave up its last attempt.
 * Returns undefined if the message has ended, has expired, was redacted or has a later attempt, or
 * if the route does not fall back after `undelivered` or has no other transport.
 */
export async function fallBack(
  tx: Tx,
  services: Services,
  { message, attempt }: Reported,
  error: MessageError,
): Promise<Reported | undefined> {
  const { status, expires_at, attempts: made, body } = message;
  const isUnderway =
    status === "sending" || status === "ambiguous" || status === "sent" || status === "unconfirmed";
  if (
    !isUnderway ||
    body === null ||
    expires_at === null ||
    expires_at <= tx.now ||
    attempt.number !== made
  ) {
    return undefined;
  }
  const next = await findNext(tx, services, message, attempt, {
    outcome: "accepted",
    error,
    not_before: null,
  });
  if (next?.next !== "on") return undefined;
  await disarm(tx, { kind: "follow-up", key: { attempt_id: attempt.id } });
  const { state } = sendAgain({ attempts: made, expires_at }, next.at);
  const updated = await moveMessage(tx, services.drawId, message, state, {
    ...noCarrierState,
    ...transportPatch(message, next),
  });
  await arm(tx, sendJob(updated, next.at));
  return { message: updated, attempt: tx.update(attempts, attempt, { next_attempt_at: next.at }) };
}
