import type { Ledger, LedgerCall } from "../outside/carrier.ts";
import type { StoredAttempt, StoredMessage } from "../storages/database-view.ts";
import { misrecorded, undelivered, type DeliveryEvidence } from "./judge-deliveries.ts";

export interface Evidence extends DeliveryEvidence {
  /** The acknowledged message's id by idempotency key. */
  readonly acknowledged: ReadonlyMap<string, string>;
  /** All idempotency keys that clients sent. */
  readonly keys: ReadonlySet<string>;
  readonly ledger: Ledger;
  readonly messages: readonly StoredMessage[];
  readonly attempts: readonly StoredAttempt[];
}

export interface Verdict {
  /**
   * Acknowledged messages that are missing or did not end with the status that the carrier
   * reported, and events that no receiver got.
   */
  readonly lost: readonly string[];
  /** Keys that made two messages, and messages that the carrier got twice without a reason. */
  readonly duplicated: readonly string[];
  /** Everything else that must not happen. */
  readonly violations: readonly string[];
}

/** How long a look-up waits after a lease lapsed, or after an answer was lost; engine's clock. */
const lookupAfterLapseMs = 60_000;
const lookupAfterLossMs = 5_000;

export function judge(evidence: Evidence): Verdict {
  return {
    lost: [...lost(evidence), ...undelivered(evidence)],
    duplicated: [...duplicateKeys(evidence), ...duplicateCalls(evidence)],
    violations: [...violations(evidence), ...misrecorded(evidence)],
  };
}

function lost({ acknowledged, messages, ledger }: Evidence): string[] {
  const statuses = new Map(messages.map(({ id, status }) => [id, status]));
  const missing = [...acknowledged]
    .filter(([, id]) => !statuses.has(id))
    .map(([key, id]) => `${id} (${key}) is missing`);
  const wrongStatus = messages.flatMap(({ id, status }) => {
    const expected = ledger.finalStatuses.get(id) ?? "nothing";
    return status === expected
      ? []
      : [`${id} ended as ${status}, but the carrier reported ${expected}`];
  });
  return [...missing, ...wrongStatus];
}

function duplicateKeys({ messages }: Evidence): string[] {
  const byKey = Map.groupBy(messages, ({ idempotency_key }) => idempotency_key ?? "no key");
  return [...byKey]
    .filter(([, made]) => made.length > 1)
    .map(([key, made]) => `${key} made ${made.map(({ id }) => id).join(" and ")}`);
}

/** A message may go out again only if its last call was not sent and the engine was told so. */
function duplicateCalls({ ledger, attempts }: Evidence): string[] {
  const outcomes = new Map(attempts.map(({ id, outcome }) => [id, outcome]));
  const denied = new Map<string, number>();
  for (const { attempt_id, at, answer } of ledger.lookups) {
    if (answer === "not_sent") {
      denied.set(attempt_id, Math.min(at, denied.get(attempt_id) ?? Infinity));
    }
  }
  const mayFollow = (before: LedgerCall, next: LedgerCall): boolean =>
    before.attempt_id !== next.attempt_id &&
    (outcomes.get(before.attempt_id) === "rejected" ||
      (denied.get(before.attempt_id) ?? Infinity) <= next.at);

  const found: string[] = [];
  for (const [id, calls] of Map.groupBy(ledger.calls, ({ message_id }) => message_id)) {
    const sent = calls.filter(({ end }) => end === "sent").length;
    if (sent > 1) found.push(`${id} was sent ${sent} times`);
    for (const [i, next] of calls.entries()) {
      const before = calls[i - 1];
      if (before !== undefined && !mayFollow(before, next)) {
        found.push(
          `the carrier got ${id} as ${next.attempt_id} after ${before.attempt_id}, which was ${before.end}`,
        );
      }
    }
  }
  return found;
}

function violations({ keys, messages, attempts, ledger }: Evidence): string[] {
  const byId = new Map(attempts.map((each) => [each.id, each]));
  const unknownKeys = messages
    .filter(({ idempotency_key: key }) => key === null || !keys.has(key))
    .map(
      ({ id, idempotency_key: key }) => `${id} has the key ${String(key)}, which no client sent`,
    );
  const uncommitted = ledger.calls
    .filter(
      ({ committed, attempt_id, message_id }) =>
        !committed || byId.get(attempt_id)?.message_id !== message_id,
    )
    .map(({ attempt_id }) => `the carrier was called with ${attempt_id} before it was committed`);
  const sent = new Set(
    ledger.calls.filter(({ end }) => end === "sent").map(({ attempt_id }) => attempt_id),
  );
  const early = ledger.lookups.flatMap(({ attempt_id, at }) => {
    const attempt = byId.get(attempt_id);
    // A receipt proves that the call was made, so the attempt may be looked up from then on.
    if (attempt?.outcome !== "ambiguous" || sent.has(attempt_id)) return [];
    const hasLapsed = attempt.error_code === "answer_lost";
    const earliest = hasLapsed
      ? attempt.leased_until + lookupAfterLapseMs
      : (attempt.answered_at ?? Infinity) + lookupAfterLossMs;
    return at < earliest ? [`${attempt_id} was looked up ${earliest - at} ms too early`] : [];
  });
  return [...unknownKeys, ...uncommitted, ...early];
}
