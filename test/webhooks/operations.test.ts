import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { world } from "../support/engines/world.ts";
import { runsOn } from "../support/runs.ts";
import { storages } from "../support/storage/storages.ts";
import { webhookCommands, type Model } from "./commands.ts";
import { receivers } from "./receivers.ts";
import { partsOf } from "./rows.ts";

describe.each(storages)("webhooks and their deliveries on $name", ({ name, open }) => {
  const numRuns = runsOn(name, { memory: 60, SQLite: 15, PostgreSQL: 4 });

  it("match a model under all sequences of operations", async () => {
    const { clock, started } = world();
    const storage = open().connect();
    const there = receivers(clock);
    const one = await started(storage, { http: { client: there.client } });
    await fc.assert(
      fc.asyncProperty(webhookCommands, async (commands) => {
        const { account } = await one.accounts.create({ name: "model" });
        const model: Model = { hooks: [] };
        const real = { account: one.account(account.id), clock, receivers: there };
        await fc.asyncModelRun(() => ({ model, real }), commands);
        for (const { id, isDeleted } of model.hooks) {
          if (!isDeleted) continue;
          expect(await partsOf(storage, id)).toEqual({
            patterns: [],
            deliveries: 0,
            attempts: 0,
            jobs: [],
          });
        }
      }),
      { numRuns },
    );
  });
});
