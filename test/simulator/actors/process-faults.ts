import type { Actor } from "./actor.ts";
const crasher: Actor = {
  does: "An engine's process crashes.",
  group: "faults",
  weight: 0.7,
  async act(world) {
    const name = world.dice.pick(world.engines.engines);
    if (name !== undefined) world.crash(name, "at random");
  },
};

const deployer: Actor = {
  does: "An engine's process is stopped and started again, as by a deployment.",
  group: "faults",
  weight: 0.7,
  async act(world) {
    const name = world.dice.pick(world.engines.up);
    if (name !== undefined) await world.deploy(name);
  },
};

const clockSetter: Actor = {
  does: "The machine's clock is set by up to three seconds.",
  group: "faults",
  weight: 0.5,
  async act({ dice, clock, clocksDiffer, trace }) {
    if (!clocksDiffer) return;
    const ms = dice.between(-3_000, 3_000);
    trace.note([], `the clock is set by ${ms} ms`);
    clock.step(ms);
  },
};

export const processFaults: readonly Actor[] = [crasher, deployer, clockSetter];
