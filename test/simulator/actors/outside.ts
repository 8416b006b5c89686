import type { Actor } from "./actor.ts";
import { senderAddresses } from "./senders.ts";

const writer: Actor = {
  name: "writer",
  part: "texting",
  weight: 4,
  async act({ dice, carrier, people, words }) {
    const hasPicture = dice.chance(0.2);
    carrier.bring({
      channel: hasPicture ? "mms" : "sms",
      from: people.some(dice),
      to: dice.pick(senderAddresses),
      body: `inbound words ${words.draw()}`,
      media: hasPicture
        ? [{ url: `https://media.example/${words.draw()}`, content_type: "image/png" }]
        : [],
    });
  },
};

const crasher: Actor = {
  name: "crasher",
  part: "faults",
  weight: 0.7,
  async act({ dice, hosts }) {
    dice.pick(hosts)?.crash("of itself");
  },
};

const deployer: Actor = {
  name: "deployer",
  part: "faults",
  weight: 0.7,
  async act({ dice, hosts }) {
    await dice.pick(hosts)?.stop();
  },
};

/** An operator or NTP sets the clock. */
const clockSetter: Actor = {
  name: "clock setter",
  part: "faults",
  weight: 0.5,
  async act({ dice, clock, faults, trace }) {
    if (faults.skewMs === 0) return;
    const ms = dice.between(-3_000, 3_000);
    trace.note([], `the clock is set by ${ms} ms`);
    clock.step(ms);
  },
};

export const outside: readonly Actor[] = [writer, crasher, deployer, clockSetter];
