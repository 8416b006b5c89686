/** Commands that wait while the storage is slow, after an outage that is over. */
import { expect, it, onTestFinished } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { simulated } from "../../../adapters/testing/index.ts";
import { TidingsError } from "../../../src/kernel/index.ts";
import { silent } from "../../../src/ports/logger.ts";
import { Store } from "../../../src/store/store.ts";
import { outcome } from "../../support/outcome.ts";
import { withGroups } from "../../support/storage/groups.ts";
import { itemById, items, schema } from "../commands.ts";

it("a command that waits for a slow storage does not fail because of an earlier outage", async () => {
  const { clock, random } = simulated();
  const storage = memory();
  let state: "down" | "slow" = "down";
  const port = withGroups(storage, {
    async read(lookups, group) {
      if (state === "slow") await clock.sleep(6_000);
      return group.read(lookups);
    },
    async commit(writes, group) {
      if (state !== "down") return group.commit(writes);
      await clock.sleep(1_000);
      await group.abort();
      throw new TidingsError("storage_unavailable", "no response");
    },
  });
  const store = new Store({ port, schema, clock, random, logger: silent });
  await store.open();
  onTestFinished(() => store.close());
  const insert = (id: string): Promise<unknown> =>
    outcome(
      store.commitUnscoped(async (tx) => {
        await tx.get(itemById, [id]);
        tx.insert(items, { id, owner: "own", label: null, token: id });
      }),
    );
  const during = insert("during");
  await clock.advance(2_000);
  expect(await during).toBe("storage_unavailable");
  state = "slow";
  await clock.advance(3_600_000);
  const after = [insert("a"), insert("b")];
  await clock.advance(60_000);
  expect(await Promise.all(after)).toEqual(["done", "done"]);
});
