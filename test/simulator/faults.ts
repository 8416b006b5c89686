import type { Dice } from "./dice.ts";

/** The probability of each fault at one call of a port. `skewMs` is how far a clock may be off. */
export interface Faults {
  readonly commitFailsBefore: number;
  readonly commitFailsAfter: number;
  readonly commitConflicts: number;
  readonly commitDelayed: number;
  readonly commitStalled: number;
  readonly crashAtCommit: number;
  readonly connectionLost: number;
  readonly notificationLost: number;
  readonly readFails: number;
  readonly readDelayed: number;
  readonly crashAtCarrierCall: number;
  readonly callFailsBefore: number;
  readonly callFailsAfter: number;
  readonly callDelayed: number;
  readonly answerDelayed: number;
  readonly carrierThrottles: number;
  readonly carrierRefuses: number;
  readonly lookupUnknown: number;
  readonly lookupFails: number;
  readonly lookupLags: number;
  readonly receiptLost: number;
  readonly receiptTwice: number;
  readonly receiptEarly: number;
  readonly policyDenies: number;
  readonly policyDefers: number;
  readonly policyFails: number;
  readonly analyzerFails: number;
  readonly analyzerSlow: number;
  readonly crashAtModelCall: number;
  readonly modelSlow: number;
  readonly modelFails: number;
  readonly modelHostile: number;
  readonly crashAtAction: number;
  readonly actionFailsBefore: number;
  readonly actionFailsAfter: number;
  readonly actionSlow: number;
  readonly visitorDisconnects: number;
  readonly clientImpatient: number;
  readonly skewMs: number;
}

/** No history has a fault more often than this. */
const maxRates: Faults = {
  commitFailsBefore: 0.06,
  commitFailsAfter: 0.06,
  commitConflicts: 0.08,
  commitDelayed: 0.4,
  commitStalled: 0.04,
  crashAtCommit: 0.005,
  connectionLost: 0.004,
  notificationLost: 0.5,
  readFails: 0.03,
  readDelayed: 0.06,
  crashAtCarrierCall: 0.05,
  callFailsBefore: 0.12,
  callFailsAfter: 0.15,
  callDelayed: 0.3,
  answerDelayed: 0.3,
  carrierThrottles: 0.25,
  carrierRefuses: 0.1,
  lookupUnknown: 0.3,
  lookupFails: 0.2,
  lookupLags: 0.5,
  receiptLost: 0.15,
  receiptTwice: 0.3,
  receiptEarly: 0.5,
  policyDenies: 0.15,
  policyDefers: 0.3,
  policyFails: 0.1,
  analyzerFails: 0.2,
  analyzerSlow: 0.2,
  crashAtModelCall: 0.05,
  modelSlow: 0.3,
  modelFails: 0.2,
  modelHostile: 0.3,
  crashAtAction: 0.06,
  actionFailsBefore: 0.1,
  actionFailsAfter: 0.15,
  actionSlow: 0.3,
  visitorDisconnects: 0.6,
  clientImpatient: 0.3,
  skewMs: 2_000,
};

type Fault = keyof Faults;
const kinds = Object.keys(maxRates) as Fault[];

function faults(rate: (kind: Fault) => number): Faults {
  return Object.fromEntries(kinds.map((kind) => [kind, rate(kind)])) as Record<Fault, number>;
}

/**
 * Each seed draws which kinds of faults occur, and how often. Leaving some out matters: one fault
 * can hide the effects of another.
 */
export function drawFaults(dice: Dice): Faults {
  return faults((kind) => (dice.chance(0.6) ? maxRates[kind] * dice.number() : 0));
}

export const noFaults: Faults = faults(() => 0);

/**
 * How long each call of a port may take, in milliseconds. In sum they stay below the time that an
 * engine may stall while it holds a job: its lease and 60 seconds.
 */
export const maxDelayMs = {
  /** A stall after a commit. */
  stall: 60_000,
  /** A lost connection to the storage. */
  outage: 20_000,
  commit: 3_000,
  read: 300,
  /** From the transport to the carrier. */
  carrierCall: 15_000,
  /** From the carrier back. */
  carrierAnswer: 45_000,
  lookup: 8_000,
  /** The time by which a host policy defers a message. */
  deferral: 60_000,
  sentiment: 4_000,
  modelReply: 30_000,
  action: 15_000,
} as const;
