import type { Actor } from "./actor.ts";
import { senderAddresses } from "./senders.ts";

/** What people text who want to be left alone, or not, and what it means. */
export const sayings = [
  { text: "STOP", means: "opt_out", weight: 4 },
  { text: " stop. ", means: "opt_out", weight: 1 },
  { text: "Opt out!", means: "opt_out", weight: 1 },
  { text: "START", means: "opt_in", weight: 3 },
  { text: "unstop", means: "opt_in", weight: 1 },
  { text: "yes", means: "yes", weight: 2 },
  { text: "HELP", means: "help", weight: 0.5 },
  { text: "please stop texting me", means: "near", weight: 1 },
  { text: "stpo", means: "near", weight: 0.5 },
  { text: "the bus stop is closed", means: "nothing", weight: 0.5 },
] as const;

const texter: Actor = {
  name: "texter",
  part: "consent",
  weight: 2.5,
  async act({ dice, carrier, people }) {
    const { text: body } = dice.weighted(sayings);
    const from = people.some(dice);
    carrier.bring({ channel: "sms", from, to: dice.pick(senderAddresses), body, media: [] });
  },
};

export const texters: readonly Actor[] = [texter];
