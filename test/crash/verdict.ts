import type { Ledger, LedgerCall } from "./carrier.ts";
import { type DeliveryEvidence, misrecorded, undelivered } from "./delivery-verdict.ts";
import { groups } from "./groups.ts";
import type { AttemptFacts, MessageFacts } from "./view.ts";

export interface Evidence extends DeliveryEvidence {
  /** Of each idempotency key, the message that was acknowledged. */
  readonly acknowledged: ReadonlyMap<string, string>;
  /** Keys that clients used. */
  readonly keys: ReadonlySet<string>;
  readonly ledger: Ledger;
  readonly messages: readonly MessageFacts[];
  readonly attempts: readonly AttemptFacts[];
}

export interface Verdict {
  /** Acknowledged messages that are not there or did not come to the end that the carrier tells of; events that no receiver got. */
  readonly lost: readonly string[];
  /** Keys that made two messages, and messages that the carrier was given twice without being allowed to. */
  readonly doubled: readonly string[];
  /** Whatever else is not as promised. */
  readonly broken: readonly string[];
}

/** A look-up waits so long past the lapse of a lease, or past an answer that its caller saw getting lost; engine's milliseconds. */
const afterLapse = 60_000;
const afterLoss = 5_000;

export function judge(evidence: Evidence): Verdict {
  return {
    lost: [...lost(evidence), ...undelivered(evidence)],
    doubled: [...doubledKeys(evidence), ...doubledCalls(evidence)],
    broken: [...broken(evidence), ...misrecorded(evidence)],
  };
}

function lost({ acknowledged, messages, ledger }: Evidence): string[] {
  const statuses = new Map(messages.map(({ id, status }) => [id, status]));
  const missing = [...acknowledged]
    .filter(([, id]) => !statuses.has(id))
    .map(([key, id]) => `${id} (${key}) is gone`);
  const strayed = messages.flatMap(({ id, status }) => {
    const told = ledger.verdicts.get(id) ?? "nothing";
    return status === told ? [] : [`${id} ended as ${status}, and the carrier says ${told}`];
  });
  return [...missing, ...strayed];
}

function doubledKeys({ messages }: Evidence): string[] {
  const byKey = groups(messages, ({ idempotency_key }) => idempotency_key ?? "no key");
  return [...byKey]
    .filter(([, made]) => made.length > 1)
    .map(([key, made]) => `${key} made ${made.map(({ id }) => id).join(" and ")}`);
}

/** A message is given to the carrier again only when its last call was surely not sent and the engine was told so. */
function doubledCalls({ ledger, attempts }: Evidence): string[] {
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
  for (const [id, calls] of groups(ledger.calls, ({ message_id }) => message_id)) {
    const sent = calls.filter(({ end }) => end === "sent").length;
    if (sent > 1) found.push(`${id} was sent ${sent} times`);
    for (const [i, next] of calls.entries()) {
      const before = calls[i - 1];
      if (before !== undefined && !mayFollow(before, next)) {
        found.push(
          `${id} was given to the carrier as ${next.attempt_id} after ${before.attempt_id}, which was ${before.end}`,
        );
      }
    }
  }
  return found;
}

function broken({ keys, messages, attempts, ledger }: Evidence): string[] {
  const byId = new Map(attempts.map((each) => [each.id, each]));
  const strangers = messages
    .filter(({ idempotency_key: key }) => key === null || !keys.has(key))
    .map(({ id, idempotency_key: key }) => `${id} has the key ${String(key)}, which nobody sent`);
  const uncommitted = ledger.calls
    .filter(
      ({ committed, attempt_id, message_id }) =>
        !committed || byId.get(attempt_id)?.message_id !== message_id,
    )
    .map(({ attempt_id }) => `the carrier was called with ${attempt_id}, which was not committed`);
  const hasty = ledger.lookups.flatMap(({ attempt_id, at }) => {
    const attempt = byId.get(attempt_id);
    if (attempt?.outcome !== "ambiguous") return [];
    const lapsed = attempt.error_code === "answer_lost";
    const earliest = lapsed
      ? attempt.leased_until + afterLapse
      : (attempt.answered_at ?? Infinity) + afterLoss;
    return at < earliest ? [`${attempt_id} was looked up ${earliest - at} ms too early`] : [];
  });
  return [...strangers, ...uncommitted, ...hasty];
}
