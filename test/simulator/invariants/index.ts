import type { Invariant } from "../invariant.ts";
import { asAsked, atMostOnce, cancelOrSend, inItsTime, onRecord } from "./calls.ts";
import { connectedEvents, countedUsage, wholeTimeline } from "./events.ts";
import { holderAlone } from "./holder.ts";
import { inOrder } from "./order.ts";
import { acknowledged, oneInbound, oneKeyOneMessage, onePerson, sequences } from "./records.ts";
import { neverForgotten } from "./waiting.ts";
import { joinOfEvidence, receiptsKept } from "./status.ts";

/** Judged by those who see it: clients, hosts, and the wait for rest. */
const elsewhere = ["one key, one answer", "everything comes to rest", "no surprises", "clean stop"];

/** A later capability adds its invariants here. */
export const invariants: readonly Invariant[] = [
  acknowledged,
  oneKeyOneMessage,
  atMostOnce,
  onRecord,
  asAsked,
  inItsTime,
  cancelOrSend,
  holderAlone,
  inOrder,
  neverForgotten,
  sequences,
  onePerson,
  oneInbound,
  joinOfEvidence,
  receiptsKept,
  connectedEvents,
  wholeTimeline,
  countedUsage,
  ...elsewhere.map((name) => ({ name, watch: () => ({}) })),
];
