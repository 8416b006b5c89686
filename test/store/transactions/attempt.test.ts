import { expect, onTestFinished, test } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { simulated } from "../../../adapters/testing/index.ts";
import { events, type EventRow } from "../../../src/events/rows.ts";
import { schema } from "../../../src/modules.ts";
import { silent } from "../../../src/ports/logger.ts";
import { Store } from "../../../src/store/store.ts";
import type { UnscopedTx } from "../../../src/store/transactions/transaction.ts";

const event = (id: `evt_${string}`): EventRow => ({
  account_id: "acct_a",
  mode: "sandbox",
  id,
  position: 0,
  type: "message.sent",
  conversation_id: null,
  contact_id: null,
  data: {},
  created_at: 0,
  rewrites: 0,
});

test("rows and events of a failed attempt are discarded", async () => {
  const told: unknown[] = [];
  const port = memory();
  const store = new Store({
    port,
    schema,
    ...simulated(),
    logger: silent,
    projection: {
      of: events,
      reads: [],
      project: async (_, rows) => void told.push(...rows.map((row) => (row as EventRow).id)),
    },
  });
  await store.open();
  onTestFinished(() => store.close());
  const failed = new Error("refused");
  const caught = await store.commitUnscoped(async (tx) => {
    tx.insert(events, event("evt_before"));
    const attempt = tx.attempt(async (part) => {
      part.insert(events, event("evt_taken_back"));
      throw failed;
    });
    const error: unknown = await attempt.catch((reason: unknown) => reason);
    tx.insert(events, event("evt_after"));
    return error;
  });
  expect(caught).toBe(failed);
  expect(told).toEqual(["evt_before", "evt_after"]);
  const rows = await port.reader.range({
    index: events.primary,
    prefix: [],
    order: "ascending",
    limit: 10,
  });
  expect(new Set(rows.map((row) => row["id"]))).toEqual(new Set(["evt_before", "evt_after"]));
});

test("a transaction can no longer be used when its command has returned or thrown", async () => {
  const store = new Store({ port: memory(), schema, ...simulated(), logger: silent });
  await store.open();
  onTestFinished(() => store.close());
  const ended: UnscopedTx[] = [];
  await store.commitUnscoped(async (tx) => void ended.push(tx));
  const failing = store.commitUnscoped(async (tx) => {
    ended.push(tx);
    throw new RangeError("refused");
  });
  await expect(failing).rejects.toThrow(RangeError);
  expect(ended).toHaveLength(2);
  for (const tx of ended) {
    expect(() => tx.insert(events, event("evt_late"))).toThrow(/has returned/);
    await expect(tx.list(events.primary, ["evt_late"], 1)).rejects.toThrow(/has returned/);
  }
});
