import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { world } from "../support/engines/world.ts";
import { runsOn } from "../support/runs.ts";
import { tablesWith } from "../support/storage/rows.ts";
import { lightStorages } from "../support/storage/storages.ts";
import { contactCommands, Model } from "./commands.ts";
import { checkContacts } from "./invariants.ts";

describe.each(lightStorages)("contacts on $name", ({ name, open }) => {
  const numRuns = runsOn(name, { memory: 80, SQLite: 25, PostgreSQL: 6 });

  it("match a model under all sequences of commands", async () => {
    const { clock, started } = world();
    const storage = open().connect();
    const one = await started(storage);
    await fc.assert(
      fc.asyncProperty(contactCommands, async (commands) => {
        const { account } = await one.accounts.create({ name: "model" });
        const model = new Model();
        await fc.asyncModelRun(
          () => ({ model, real: { account: one.account(account.id) } }),
          commands,
        );
        await clock.advance(1_000);
        await checkContacts(storage, account.id);
        const gone = model.people.flatMap(({ isErased, marks }) => (isErased ? marks : []));
        expect(await tablesWith(storage, gone, account.id)).toEqual([]);
      }),
      { numRuns },
    );
  });
});
