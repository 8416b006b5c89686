import type { IssuedReceipt } from "../../../adapters/testing/index.ts";
import { attemptsOfMessage, messages } from "../../../src/messages/rows.ts";
import type { Receipt } from "../../../src/ports/transport.ts";
import { laws, type Invariant, type Violation } from "../invariant.ts";
import { allRows, readRows } from "../rows.ts";
import { fallsBack } from "../settings.ts";
import type { World } from "../world.ts";

const ranks: Readonly<Record<string, number>> = {
  sent: 1,
  unconfirmed: 2,
  undelivered: 3,
  delivered: 4,
  read: 5,
};

/** How strong a status is as evidence; 0 for a status that is no evidence of a delivery. */
export function statusRank(status: string): number {
  return ranks[status] ?? 0;
}

export const statusFromEvidence: Invariant = {
  name: laws.statusFromEvidence,
  check: (world) => ({
    async end() {
      const outbound = allRows(world.database, messages).filter(
        ({ direction, channel }) => direction === "outbound" && channel !== "webchat",
      );
      return outbound.flatMap(({ id, status, delivered_at }): Violation[] => {
        const violation = (text: string): Violation[] => [
          { about: [id], description: `${id} is ${status}, but ${text}` },
        ];
        const calls = world.carrier
          .callsOf(id)
          .filter(({ provider_message_id }) => provider_message_id !== null);
        if (calls.length === 0) {
          const ends = [
            "canceled",
            "expired",
            "failed",
            ...(world.traits.hasLookup ? [] : ["ambiguous"]),
          ];
          return ends.includes(status) ? [] : violation("the carrier never accepted it");
        }
        const issued = calls.flatMap(({ receipts }) => receipts);
        const certain = issued
          .filter((each) => each.acknowledged && isAssignable(world, id, each))
          .map(({ receipt }) => receipt);
        const possible = issued.map(({ receipt }) => receipt);
        const mayFallBack = fallsBack(world.settings);
        const tried = readRows(world.database, attemptsOfMessage, [id]);
        if (statusRank(status) === 0) {
          // It ended before it was sent again, after an attempt that was lost or given up.
          if (mayFallBack && !tried.some(({ outcome }) => outcome === "accepted")) return [];
          const cannotKnow =
            !world.traits.hasLookup && status === "ambiguous" && certain.length === 0;
          return cannotKnow ? [] : violation("the carrier accepted it");
        }
        if (!world.traits.hasReceipts) {
          return status === "delivered"
            ? []
            : violation("a carrier without receipts leaves it at delivered");
        }
        // A failure counts only if no other attempt may have sent the message.
        const isOne = !mayFallBack || tried.length === 1;
        const counted = isOne ? certain : certain.filter((each) => each.status !== "undelivered");
        const [least, most] = [strongest(counted), strongest(possible)];
        if (statusRank(status) < statusRank(least)) return violation(`a receipt says ${least}`);
        if (statusRank(status) > Math.max(statusRank(most), statusRank("unconfirmed"))) {
          return violation(`the strongest receipt says ${most}`);
        }
        if (certain.length < possible.length) return [];
        const first = firstDelivery(possible);
        return first === delivered_at
          ? []
          : violation(
              `was delivered at ${delivered_at ?? "no time"}, while the receipts say ${first ?? "no time"}`,
            );
      });
    },
  }),
};

/** A receipt under the carrier's message id is useless to engines that never learned that id. */
function isAssignable(
  { database }: World,
  message_id: string,
  { subject }: IssuedReceipt,
): boolean {
  if (subject.attempt_id !== undefined) return true;
  const tried = readRows(database, attemptsOfMessage, [message_id]);
  return tried.some(
    ({ provider_message_id }) => provider_message_id === subject.provider_message_id,
  );
}

function strongest(receipts: readonly Receipt[]): string {
  return receipts.reduce(
    (best, { status }) => (statusRank(status) > statusRank(best) ? status : best),
    "sent",
  );
}

function firstDelivery(receipts: readonly Receipt[]): number | null {
  const times = receipts
    .filter(({ status }) => status === "delivered" || status === "read")
    .map(({ at }) => at);
  return times.length > 0 ? Math.min(...times) : null;
}

export const receiptsInTimeline: Invariant = {
  name: "Every receipt that an engine acknowledged is in the message's timeline.",
  check: (world) => ({
    async end() {
      const violations: Violation[] = [];
      const existing = new Set<string>(allRows(world.database, messages).map(({ id }) => id));
      for (const { message, receipts } of world.carrier.calls) {
        const id = message.message_id;
        if (!existing.has(id)) continue;
        const acknowledged = receipts.filter(
          (each) => each.acknowledged && isAssignable(world, id, each),
        );
        if (acknowledged.length === 0) continue;
        const answer = await world.clients.ask((engine) => engine.messages.timeline(id));
        const found =
          answer.kind === "done" ? answer.value.data.filter(({ type }) => type === "receipt") : [];
        for (const { receipt } of acknowledged) {
          const isFound = found.some(
            (entry) =>
              entry.type === "receipt" &&
              entry.status === receipt.status &&
              Date.parse(entry.carrier_at) === receipt.at,
          );
          if (!isFound) {
            violations.push({
              about: [id],
              description: `the timeline of ${id} has no receipt "${receipt.status}", though an engine acknowledged one`,
            });
          }
        }
      }
      return violations;
    },
  }),
};
