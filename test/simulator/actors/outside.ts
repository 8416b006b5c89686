import type { Actor } from "./actor.ts";
import { people, senderAddresses } from "./senders.ts";

const writer: Actor = {
  name: "writer",
  weight: 4,
  async act({ dice, carrier }) {
    carrier.bring({
      channel: "sms",
      from: dice.pick(people),
      to: dice.pick(senderAddresses),
      body: `inbound words ${carrier.inbound.length + 1}`,
      media: [],
    });
  },
};

const crasher: Actor = {
  name: "crasher",
  weight: 0.7,
  async act({ dice, hosts }) {
    dice.pick(hosts)?.crash("of itself");
  },
};

const deployer: Actor = {
  name: "deployer",
  weight: 0.7,
  async act({ dice, hosts }) {
    await dice.pick(hosts)?.stop();
  },
};

/** An operator or NTP sets the clock. */
const clockSetter: Actor = {
  name: "clock setter",
  weight: 0.5,
  async act({ dice, clock, faults, trace }) {
    if (faults.skewMs === 0) return;
    const ms = dice.between(-3_000, 3_000);
    trace.note([], `the clock is set by ${ms} ms`);
    clock.step(ms);
  },
};

export const outside: readonly Actor[] = [writer, crasher, deployer, clockSetter];
