import type { Dice } from "../../adapters/testing/index.ts";

/**
 * The probability of each fault of the host application and of its clients. The faults of the
 * storage, the carrier and the clocks are the world's.
 */
export interface Faults {
  readonly policyDenies: number;
  readonly policyDefers: number;
  readonly policyFails: number;
  readonly analyzerFails: number;
  readonly analyzerSlow: number;
  readonly modelHostile: number;
  readonly crashAtAction: number;
  readonly actionFailsBefore: number;
  readonly actionFailsAfter: number;
  readonly actionSlow: number;
  readonly consumerFails: number;
  readonly consumerSlow: number;
  readonly visitorDisconnects: number;
  readonly clientImpatient: number;
}

/** No history has a fault more often than this. */
const maxRates: Faults = {
  policyDenies: 0.15,
  policyDefers: 0.3,
  policyFails: 0.1,
  analyzerFails: 0.2,
  analyzerSlow: 0.2,
  modelHostile: 0.4,
  crashAtAction: 0.1,
  actionFailsBefore: 0.2,
  actionFailsAfter: 0.2,
  actionSlow: 0.3,
  consumerFails: 0.1,
  consumerSlow: 0.1,
  visitorDisconnects: 0.6,
  clientImpatient: 0.3,
};

export type HostFault = keyof Faults;
const kinds = Object.keys(maxRates) as HostFault[];

function faults(rate: (kind: HostFault) => number): Faults {
  return Object.fromEntries(kinds.map((kind) => [kind, rate(kind)])) as Record<HostFault, number>;
}

/** Each seed draws which kinds of faults occur, and how often. */
export function drawFaults(dice: Dice): Faults {
  return faults((kind) => (dice.chance(0.6) ? maxRates[kind] * dice.number() : 0));
}

export const noFaults: Faults = faults(() => 0);

/** How long each call of the host application may take, in milliseconds. */
export const maxDelayMs = {
  /** The time by which a host policy defers a message. */
  deferral: 60_000,
  sentiment: 4_000,
  action: 15_000,
  /** Longer than an engine waits for a consumer's handler. */
  consumer: 12_000,
} as const;
