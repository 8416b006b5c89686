import type { Dice } from "./dice.ts";

/** Who does what, in groups that a history can have more or less of. */
export type Part =
  | "sending"
  | "changes"
  | "texting"
  | "consent"
  | "desk"
  | "contacts"
  | "webchat"
  | "webhooks"
  | "agents"
  | "faults";

export interface Shape {
  readonly name: string;
  readonly weight: number;
  /** Phone numbers that are there from the beginning. Few of them, and much happens to each. */
  readonly people: number;
  /** How much more, or less, of each part there is than usual. */
  readonly share: Readonly<Partial<Record<Part, number>>>;
}

/** No history is long enough for everything: each has something that it goes deep into. */
const shapes: readonly Shape[] = [
  { name: "a bit of everything", weight: 3, people: 4, share: {} },
  {
    name: "traffic",
    weight: 3,
    people: 4,
    share: { consent: 0.1, desk: 0.1, contacts: 0.05, webchat: 0, agents: 0 },
  },
  {
    name: "opt-outs",
    weight: 2,
    people: 2,
    share: { consent: 6, changes: 0.3, desk: 0.2, contacts: 0.6, webchat: 0, agents: 0.3 },
  },
  {
    name: "inbox",
    weight: 2,
    people: 3,
    share: { desk: 4, texting: 2, sending: 0.4, changes: 0.3, contacts: 0.3 },
  },
  {
    name: "contacts",
    weight: 2,
    people: 3,
    share: { contacts: 5, texting: 1.5, sending: 0.6, changes: 0.3, desk: 0.6, agents: 0.5 },
  },
  {
    name: "webchat",
    weight: 2,
    people: 1,
    share: {
      webchat: 5,
      contacts: 4,
      desk: 1.5,
      sending: 0.2,
      changes: 0.3,
      consent: 0.2,
      agents: 0.3,
    },
  },
  {
    name: "webhooks",
    weight: 3,
    people: 2,
    share: {
      webhooks: 5,
      texting: 1.5,
      sending: 0.5,
      consent: 0.3,
      desk: 0.3,
      contacts: 0.4,
      webchat: 0,
      agents: 0,
    },
  },
  {
    name: "agents",
    weight: 3,
    people: 3,
    share: {
      agents: 4,
      desk: 1.2,
      texting: 0.7,
      sending: 0.1,
      changes: 0.3,
      consent: 0.6,
      contacts: 0.4,
      webchat: 1,
    },
  },
];

export function drawShape(dice: Dice): Shape {
  return dice.weighted(shapes);
}
