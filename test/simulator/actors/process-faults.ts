import type { Actor } from "./actor.ts";
const crasher: Actor = {
  does: "An engine's process crashes.",
  group: "faults",
  weight: 0.7,
  async act({ dice, engineProcesses }) {
    dice.pick(engineProcesses)?.crash("at random");
  },
};

const deployer: Actor = {
  does: "An engine's process is stopped and started again, as by a deployment.",
  group: "faults",
  weight: 0.7,
  async act({ dice, engineProcesses }) {
    await dice.pick(engineProcesses)?.stop();
  },
};

const clockSetter: Actor = {
  does: "The machine's clock is set by up to three seconds.",
  group: "faults",
  weight: 0.5,
  async act({ dice, clock, faults, trace }) {
    if (faults.skewMs === 0) return;
    const ms = dice.between(-3_000, 3_000);
    trace.note([], `the clock is set by ${ms} ms`);
    clock.step(ms);
  },
};

export const processFaults: readonly Actor[] = [crasher, deployer, clockSetter];
