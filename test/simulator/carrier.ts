import {
  scriptedCarrier,
  type CarrierCall,
  type Dice,
  type ScriptedCarrier,
  type ScriptedReceipt,
} from "../../adapters/testing/index.ts";
import { primaryTransport, type Settings } from "./settings.ts";

/** What the carrier of a history does. */
export interface CarrierTraits {
  /** It answers look-ups. */
  readonly hasLookup: boolean;
  /** It sends receipts. */
  readonly hasReceipts: boolean;
  /** The share of receipts that name the attempt instead of the carrier's own message id. */
  readonly attemptIdShare: number;
}

export function drawTraits(dice: Dice): CarrierTraits {
  return {
    hasLookup: dice.chance(0.85),
    hasReceipts: dice.chance(0.9),
    attemptIdShare: dice.chance(0.5) ? dice.number() : 0,
  };
}

/** The carrier of a history. Its receipts come in many orders. */
export function makeCarrier(
  dice: Dice,
  { hasLookup, hasReceipts, attemptIdShare }: CarrierTraits,
  { carrierConfirmsOptOuts }: Settings,
  onCall: (call: CarrierCall) => void,
): ScriptedCarrier {
  const receipts = (): ScriptedReceipt[] => {
    let afterMs = 0;
    return dice.weighted(receiptSequences).statuses.map((status) => {
      afterMs += dice.between(0, 20_000);
      const names = dice.chance(attemptIdShare) ? "attempt" : "provider";
      const arrivesAfterMs = afterMs + dice.between(0, 30_000);
      return { status, afterMs, arrivesAfterMs, names, error: dice.pick(reasons) };
    });
  };
  return scriptedCarrier({
    name: primaryTransport,
    modes: ["live"],
    lookups: hasLookup,
    receipts: hasReceipts ? { timeout_ms: 240_000, lookups_ms: [30_000, 100_000] } : "none",
    confirmsOptOuts: carrierConfirmsOptOuts,
    script: () => ({ outcome: "accepted", receipts: receipts() }),
    onCall,
  });
}

/** Why a message was not delivered: because of the recipient, or because of the carrier. */
const reasons = ["unreachable", "carrier_unavailable"] as const;

/** The receipts that follow an accepted message, and how likely each sequence is. */
const receiptSequences: readonly {
  readonly weight: number;
  readonly statuses: readonly ScriptedReceipt["status"][];
}[] = [
  { weight: 5, statuses: ["delivered"] },
  { weight: 3, statuses: ["sent", "delivered"] },
  { weight: 2, statuses: ["undelivered"] },
  { weight: 1, statuses: ["undelivered", "delivered"] },
  { weight: 1, statuses: ["delivered", "undelivered"] },
  { weight: 2, statuses: ["sent", "delivered", "read"] },
  { weight: 1, statuses: ["sent"] },
  { weight: 1, statuses: [] },
];
