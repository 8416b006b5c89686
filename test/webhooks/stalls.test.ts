import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { SharedStorage } from "../../adapters/testing/world/ports/shared-storage.ts";
import type { Write } from "../../src/ports/storage.ts";
import { events as eventRows } from "../../src/events/rows.ts";
import { deliveries } from "../../src/webhooks/rows.ts";
import { held } from "../support/engines/carrier.ts";
import { webhookWorld } from "./world.ts";

it.each(["leases the job of", "reads the deliveries of"])(
  "a process that stalls when it %s a webhook sends nothing again that another one sends",
  async (when) => {
    const storage = new SharedStorage(memory());
    const { hook, tell, start, pass, receivers } = await webhookWorld({
      connect: () => storage.connect(),
    });
    await hook("a", () => ({ after: 10_000 }), { ordering: "fifo" });
    const events = await tell(3);
    const gate = held<void>();
    let isLeased = false;
    let isStalled = false;
    const stalling = storage.connect({
      async delay(stage, { reads = [], writes = [] }) {
        isLeased ||= stage === "outcome" && writes.some(leasesDrain);
        const isRead = reads.some(
          (read) => "index" in read && read.index.collection === deliveries,
        );
        isStalled ||= isLeased && (when.startsWith("leases") || (stage === "rows" && isRead));
        if (isStalled) await gate.promise;
      },
    });
    void start({}, stalling);
    await pass(1_000);
    expect(isStalled).toBe(true);
    await start();
    await pass(70_000);
    gate.answer();
    await pass(60_000);
    expect(receivers.seen.map(({ id }) => id)).toEqual(events);
  },
);

it("an engine whose stop is past its deadline sends nothing, though the stop still waits for a read", async () => {
  const storage = new SharedStorage(memory());
  const { hook, tell, start, pass, receivers } = await webhookWorld({
    connect: () => storage.connect(),
  });
  await hook("a", () => ({}), { ordering: "fifo" });
  const gate = held<void>();
  let isSlow = false;
  let isHeld = false;
  const slow = storage.connect({
    async delay(_stage, { reads = [] }) {
      const isOfConsumer = reads.some(
        (read) => "index" in read && read.index.collection === eventRows,
      );
      isHeld ||= isSlow && isOfConsumer;
      if (isSlow && isOfConsumer) await gate.promise;
    },
  });
  const one = await start({}, slow);
  const consumer = one.consume("slow", ["contact.created"], () => {});
  await pass(1_000);
  isSlow = true;
  await pass(5_000);
  expect(isHeld).toBe(true);
  const isOver = one.stop({ deadlineMs: 0 });
  await pass(1_000);
  const events = await tell(3);
  await pass(30_000);
  expect(receivers.seen).toEqual([]);
  gate.answer();
  await pass(1_000);
  await isOver;
  await consumer.stop();
  await start();
  await pass(70_000);
  expect(receivers.seen.map(({ id }) => id)).toEqual(events);
});

const leasesDrain = (write: Write): boolean =>
  "row" in write && write.row["kind"] === "deliver" && write.row["leased"] === true;
