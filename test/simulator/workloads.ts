import type { Dice } from "../../adapters/testing/index.ts";

/** The groups of actors. A workload has more or less of each. */
export type ActorGroup =
  | "sending"
  | "changes"
  | "inbound"
  | "consent"
  | "inbox"
  | "contacts"
  | "webchat"
  | "webhooks"
  | "agents"
  | "reads"
  | "administration"
  | "faults";

export interface Workload {
  readonly name: string;
  readonly weight: number;
  /** The number of phone numbers at the beginning. The fewer, the more happens to each. */
  readonly phones: number;
  /** How often each group acts, as a factor of its usual weight. */
  readonly weights: Readonly<Partial<Record<ActorGroup, number>>>;
}

/** One history is too short to exercise everything, so each emphasizes some groups. */
const workloads: readonly Workload[] = [
  { name: "a bit of everything", weight: 3, phones: 4, weights: {} },
  {
    name: "traffic",
    weight: 3,
    phones: 4,
    weights: { consent: 0.1, inbox: 0.1, contacts: 0.05, webchat: 0, agents: 0 },
  },
  {
    name: "opt-outs",
    weight: 2,
    phones: 2,
    weights: { consent: 6, changes: 0.3, inbox: 0.2, contacts: 0.6, webchat: 0, agents: 0.3 },
  },
  {
    name: "inbox",
    weight: 2,
    phones: 3,
    weights: { inbox: 4, inbound: 2, sending: 0.4, changes: 0.3, contacts: 0.3 },
  },
  {
    name: "contacts",
    weight: 2,
    phones: 3,
    weights: { contacts: 5, inbound: 1.5, sending: 0.6, changes: 0.3, inbox: 0.6, agents: 0.5 },
  },
  {
    name: "webchat",
    weight: 2,
    phones: 1,
    weights: {
      webchat: 5,
      reads: 1,
      contacts: 4,
      inbox: 1.5,
      sending: 0.2,
      changes: 0.3,
      consent: 0.2,
      agents: 0.3,
    },
  },
  {
    name: "webhooks",
    weight: 3,
    phones: 2,
    weights: {
      webhooks: 5,
      inbound: 1.5,
      sending: 0.5,
      consent: 0.3,
      inbox: 0.3,
      contacts: 0.4,
      webchat: 0,
      agents: 0,
    },
  },
  {
    name: "administration",
    weight: 2,
    phones: 2,
    weights: { reads: 6, administration: 6, sending: 0.4, changes: 0.3, consent: 0.4, agents: 0.6 },
  },
  {
    name: "rare requests",
    weight: 7,
    phones: 2,
    weights: {
      reads: 24,
      administration: 25,
      webhooks: 9,
      webchat: 4,
      contacts: 2.5,
      sending: 0.3,
      changes: 0.1,
      consent: 0.2,
    },
  },
  {
    name: "agents",
    weight: 4,
    phones: 3,
    weights: {
      agents: 4,
      inbox: 1.2,
      inbound: 0.7,
      sending: 0.1,
      changes: 0.3,
      consent: 0.6,
      contacts: 0.4,
      webchat: 1,
    },
  },
];

/** A history takes longer with each request, so most have few that only read. */
const usually: Workload["weights"] = { reads: 0.3, administration: 0.3 };

export function drawWorkload(dice: Dice): Workload {
  const drawn = dice.weighted(workloads);
  return { ...drawn, weights: { ...usually, ...drawn.weights } };
}
