import type { Dice } from "./dice.ts";

/** How likely each fault is at one call of a port; and how far clocks may differ, in milliseconds. */
export interface Faults {
  readonly commitFailsBefore: number;
  readonly commitFailsAfter: number;
  readonly commitConflicts: number;
  readonly commitDelayed: number;
  readonly commitStalled: number;
  readonly crashAtCommit: number;
  readonly connectionLost: number;
  readonly noticeLost: number;
  readonly readFails: number;
  readonly readDelayed: number;
  readonly crashAtCall: number;
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
  readonly ruleDenies: number;
  readonly ruleDefers: number;
  readonly ruleFails: number;
  readonly analyzerFails: number;
  readonly analyzerSlow: number;
  readonly crashAtThought: number;
  readonly modelSlow: number;
  readonly modelFails: number;
  readonly modelHostile: number;
  readonly crashAtAction: number;
  readonly actionFailsBefore: number;
  readonly actionFailsAfter: number;
  readonly actionSlow: number;
  readonly visitorCut: number;
  readonly clientImpatient: number;
  readonly skewMs: number;
}

const most: Faults = {
  commitFailsBefore: 0.06,
  commitFailsAfter: 0.06,
  commitConflicts: 0.08,
  commitDelayed: 0.4,
  commitStalled: 0.04,
  crashAtCommit: 0.005,
  connectionLost: 0.004,
  noticeLost: 0.5,
  readFails: 0.03,
  readDelayed: 0.06,
  crashAtCall: 0.05,
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
  ruleDenies: 0.15,
  ruleDefers: 0.3,
  ruleFails: 0.1,
  analyzerFails: 0.2,
  analyzerSlow: 0.2,
  crashAtThought: 0.05,
  modelSlow: 0.3,
  modelFails: 0.2,
  modelHostile: 0.3,
  crashAtAction: 0.06,
  actionFailsBefore: 0.1,
  actionFailsAfter: 0.15,
  actionSlow: 0.3,
  visitorCut: 0.6,
  clientImpatient: 0.3,
  skewMs: 2_000,
};

type Fault = keyof Faults;
const kinds = Object.keys(most) as Fault[];

function faults(rate: (kind: Fault) => number): Faults {
  return Object.fromEntries(kinds.map((kind) => [kind, rate(kind)])) as Record<Fault, number>;
}

/**
 * Each seed has kinds of faults of its own, some rare, some frequent, some not at all: what one fault hides another shows.
 */
export function drawFaults(dice: Dice): Faults {
  return faults((kind) => (dice.chance(0.6) ? most[kind] * dice.number() : 0));
}

export const noFaults: Faults = faults(() => 0);

/**
 * The longest that one port keeps an engine waiting, in milliseconds. Together they stay below what the engine allows an owner to
 * stall: its lease and 60 seconds.
 */
export const longest = {
  stall: 60_000,
  outage: 20_000,
  commit: 3_000,
  read: 300,
  transit: 15_000,
  answer: 45_000,
  lookup: 8_000,
  deferral: 60_000,
  score: 4_000,
  thought: 30_000,
  action: 15_000,
} as const;
