import { attemptsOfMessage, messages } from "../../../src/messages/rows.ts";
import type { Receipt } from "../../../src/ports/transport.ts";
import type { IssuedReceipt } from "../carrier.ts";
import type { Breach, Invariant } from "../invariant.ts";
import { rankOf } from "../ranks.ts";
import { allOf, peek } from "../rows.ts";
import type { World } from "../world.ts";

export const joinOfEvidence: Invariant = {
  name: "status is the join of all evidence",
  watch: (world) => ({
    async end() {
      const outbound = allOf(world.ground, messages).filter(
        ({ direction, channel }) => direction === "outbound" && channel !== "webchat",
      );
      return outbound.flatMap(({ id, status, delivered_at }): Breach[] => {
        const breach = (says: string): Breach[] => [
          { about: [id], says: `${id} is ${status}: ${says}` },
        ];
        const calls = world.carrier
          .callsOf(id)
          .filter(({ provider_message_id }) => provider_message_id !== null);
        if (calls.length === 0) {
          const ends = ["canceled", "expired", "failed", ...(world.canLookUp ? [] : ["ambiguous"])];
          return ends.includes(status) ? [] : breach("the carrier never took it");
        }
        const issued = calls.flatMap(({ receipts }) => receipts);
        const certain = issued
          .filter((each) => each.heard && isKnown(world, id, each))
          .map(({ receipt }) => receipt);
        const possible = issued.map(({ receipt }) => receipt);
        if (rankOf(status) === 0) {
          const blind = !world.canLookUp && status === "ambiguous" && certain.length === 0;
          return blind ? [] : breach("the carrier took it");
        }
        if (!world.hasReceipts) {
          return status === "delivered"
            ? []
            : breach("accepted is all that this carrier ever says");
        }
        const [least, most] = [strongest(certain), strongest(possible)];
        if (rankOf(status) < rankOf(least)) return breach(`a receipt said ${least}`);
        if (rankOf(status) > Math.max(rankOf(most), rankOf("unconfirmed"))) {
          return breach(`the carrier never said more than ${most}`);
        }
        if (certain.length < possible.length) return [];
        const first = firstDelivery(possible);
        return first === delivered_at
          ? []
          : breach(
              `delivered at ${delivered_at ?? "no time"}, and the carrier says ${first ?? "no time"}`,
            );
      });
    },
  }),
};

/** A receipt under the carrier's own id says nothing to engines that never learned it. */
function isKnown({ ground }: World, message_id: string, { subject }: IssuedReceipt): boolean {
  if ("attempt_id" in subject) return true;
  const tried = peek(ground, attemptsOfMessage, [message_id]);
  return tried.some(
    ({ provider_message_id }) => provider_message_id === subject.provider_message_id,
  );
}

function strongest(receipts: readonly Receipt[]): string {
  return receipts.reduce(
    (best, { status }) => (rankOf(status) > rankOf(best) ? status : best),
    "sent",
  );
}

function firstDelivery(receipts: readonly Receipt[]): number | null {
  const times = receipts
    .filter(({ status }) => status === "delivered" || status === "read")
    .map(({ at }) => at);
  return times.length > 0 ? Math.min(...times) : null;
}

export const receiptsKept: Invariant = {
  name: "every receipt that was taken is in the timeline",
  watch: (world) => ({
    async end() {
      const breaches: Breach[] = [];
      const there = new Set<string>(allOf(world.ground, messages).map(({ id }) => id));
      for (const { message, receipts } of world.carrier.calls) {
        const id = message.message_id;
        if (!there.has(id)) continue;
        const taken = receipts.filter((each) => each.heard && isKnown(world, id, each));
        if (taken.length === 0) continue;
        const answer = await world.clients.ask((engine) => engine.messages.timeline(id));
        const told =
          answer.kind === "done" ? answer.value.data.filter(({ type }) => type === "receipt") : [];
        for (const { receipt } of taken) {
          const kept = told.some((entry) => {
            return (
              entry.type === "receipt" &&
              entry.status === receipt.status &&
              Date.parse(entry.carrier_at) === receipt.at
            );
          });
          if (!kept) {
            breaches.push({
              about: [id],
              says: `the timeline of ${id} has no receipt "${receipt.status}", and one was taken`,
            });
          }
        }
      }
      return breaches;
    },
  }),
};
