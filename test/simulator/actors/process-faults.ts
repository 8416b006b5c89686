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
  does: "The machine's clock is set by some seconds, or by minutes or hours, as after a sleep.",
  group: "faults",
  weight: 0.5,
  async act(world) {
    const { dice, clocksDiffer } = world;
    if (!clocksDiffer) return;
    const isFar = dice.chance(0.4);
    world.setClock(isFar ? dice.between(-540_000, 7_200_000) : dice.between(-3_000, 3_000));
  },
};

const cable: Actor = {
  does: "An engine is cut off from the storage or from the carrier for a while.",
  group: "faults",
  weight: 0.5,
  async act(world) {
    const name = world.dice.pick(world.engines.up);
    if (name !== undefined) {
      await world.cutOff(name, world.dice.pick(["storage", "carrier", "internet"]));
    }
  },
};

const aimer: Actor = {
  does: "Faults wait for the next reads and commits of some rows.",
  group: "faults",
  weight: 5,
  act: async ({ aimed }) => aimed.aimAtRows(),
};

const callAimer: Actor = {
  does: "Faults wait for the next commits that record a call before it is made.",
  group: "faults",
  weight: 5,
  act: async ({ aimed }) => aimed.aimAtCalls(),
};

export const processFaults: readonly Actor[] = [
  aimer,
  callAimer,
  crasher,
  deployer,
  clockSetter,
  cable,
];
