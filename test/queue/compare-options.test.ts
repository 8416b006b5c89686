import { describe, expect, it } from "vitest";
import * as z from "zod";
import { rules } from "../../adapters/models/index.ts";
import { action } from "../../src/host/actions.ts";
import type { EngineOptions } from "../../src/host/options/options.ts";
import type { Policy } from "../../src/ports/policy.ts";
import { carrier } from "../support/engines/carrier.ts";
import { stopped, world, type World } from "../support/engines/world.ts";
import { lightStorages } from "../support/storage/storages.ts";

const deployMs = 600_000;

const policy = (name: string): Policy => ({ name, evaluate: () => ({ verdict: "allow" }) });
const agents = (...names: string[]): Partial<EngineOptions> => ({
  agents: {
    model: rules(),
    actions: names.map((name) =>
      action({
        name,
        description: name,
        input: z.object({}),
        risk: "read",
        idempotent: true,
        execute: async () => ({}),
      }),
    ),
  },
});

/** The warnings about other engines' options. */
const warnings = ({ log }: Pick<World, "log">): object[] =>
  log.filter(({ message }) => message.includes("other options")).map(({ facts }) => facts);

describe.each(lightStorages)("engines on $name with different options", ({ open }) => {
  it("warn once of each difference, when it has lasted for longer than a deployment", async () => {
    const ground = open();
    const { clock, started, log } = world();
    await started(ground.connect(), {
      transports: [carrier(), carrier({ name: "spare" })],
      routes: [{ transports: ["sandbox", "spare"] }],
      policies: [policy("night_rest")],
    });
    const started_at = new Date(clock.now()).toISOString();
    await clock.advance(1_000);
    const twoStartedAt = new Date(clock.now()).toISOString();
    const other = { policies: [policy("no_links")], quietHours: { from: "21:00", to: "08:00" } };
    const two = await started(ground.connect(), other);
    await clock.advance(deployMs / 2);
    expect(warnings({ log })).toEqual([]);

    await clock.advance(deployMs);
    const ofOne = ["transports: spare", "routes: sandbox, spare", "policies: night_rest"];
    const ofTwo = ["policies: no_links", "quietHours: 21:00 to 08:00"];
    const byTwo = { started_at, missing_here: ofOne, missing_there: ofTwo };
    expect(warnings({ log })).toHaveLength(2);
    expect(warnings({ log })).toContainEqual(byTwo);
    expect(warnings({ log })).toContainEqual({
      started_at: twoStartedAt,
      missing_here: ofTwo,
      missing_there: ofOne,
    });

    await stopped(two, clock);
    const { length } = log;
    await started(ground.connect(), other);
    await clock.advance(3 * deployMs);
    // The engine that was restarted warns. The one that has warned already does not repeat it.
    expect(warnings({ log: log.slice(length) })).toEqual([byTwo]);
  });

  it("do not warn after a rolling deployment, nor of what an engine does not use", async () => {
    const ground = open();
    const { clock, started, log } = world();
    const old = await started(ground.connect());
    const options = { policies: [policy("night_rest")] };
    await started(ground.connect(), { ...options, ...agents("refund") });
    await clock.advance(deployMs / 2);
    await stopped(old, clock);
    await started(ground.connect(), options);
    await clock.advance(3 * deployMs);
    expect(warnings({ log })).toEqual([]);
  });

  it("warn of an action that only one of two engines with agents has", async () => {
    const ground = open();
    const { clock, started, log } = world();
    await started(ground.connect(), agents("refund", "book"));
    await started(ground.connect(), agents("book"));
    await clock.advance(2 * deployMs);
    const started_at = expect.any(String);
    expect(warnings({ log })).toHaveLength(2);
    for (const [missing_here, missing_there] of [
      [[], ["actions: refund"]],
      [["actions: refund"], []],
    ]) {
      expect(warnings({ log })).toContainEqual({ started_at, missing_here, missing_there });
    }
  });
});
