/** What becomes of a message after the answer of its carrier was lost. */
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { TidingsError } from "../../src/kernel/index.ts";
import { attempts, type AttemptRow } from "../../src/messages/rows.ts";
import type { Write } from "../../src/ports/storage.ts";
import { accepted, carrier, lost } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { beforeCommits } from "../support/storage/groups.ts";
import { rowsOf } from "../support/storage/rows.ts";

const recordsLostAnswer = (writes: readonly Write[]): boolean =>
  writes.some(
    ({ kind, collection, ...write }) =>
      kind === "update" &&
      collection === attempts &&
      "row" in write &&
      (write.row as unknown as AttemptRow).outcome === "ambiguous",
  );

it("a lost answer that is recorded twice does not replace what a look-up found in between", async () => {
  const { clock, started } = world();
  const database = memory();
  let isStalled = false;
  // The commit is written, but its answer is lost, after the look-up.
  const storage = beforeCommits(database, async (writes) => {
    if (isStalled || !recordsLostAnswer(writes)) return;
    isStalled = true;
    await database.begin().commit(writes);
    await clock.sleep(25_000);
    throw new TidingsError("storage_unavailable", "The answer is lost.");
  });
  const line = carrier({
    send: (_, attempt) => (line.calls.length === 1 ? lost : accepted(attempt)),
    lookup: () => ({ outcome: "not_sent" }),
  });
  const one = await started(storage, { transports: [line] });
  const { id } = await one.messages.send({ to: "+15005550001", body: "Hello" });
  await clock.advance(120_000);
  expect((await one.messages.get(id)).status).toBe("sent");
  expect(line.lookups).toHaveLength(1);
  const outcomes = (await rowsOf(database, attempts)).map(({ outcome }) => outcome);
  expect(outcomes).toEqual(["rejected", "accepted"]);
});

it("a message that was redacted is not sent again if a look-up finds that it was not sent", async () => {
  const { clock, started } = world();
  const line = carrier({ send: () => lost, lookup: () => ({ outcome: "not_sent" }) });
  const one = await started(memory(), { transports: [line] });
  const { id } = await one.messages.send({ to: "+15005550001", body: "Hello" });
  await clock.settle();
  await one.messages.redact(id);
  await clock.advance(60_000);
  expect(line.lookups.length).toBeGreaterThan(0);
  expect([line.calls.length, (await one.messages.get(id)).status]).toEqual([1, "canceled"]);
});
