import fc from "fast-check";
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { seededRandom, virtualClock } from "../../adapters/testing/index.ts";
import { appendEvent } from "../../src/events/rows.ts";
import type { Scope } from "../../src/kernel/ids.ts";
import { schema } from "../../src/modules.ts";
import { silent } from "../../src/ports/logger.ts";
import { Store } from "../../src/store/store.ts";
import { fanOut } from "../../src/webhooks/deliveries/fan-out.ts";
import {
  eventPatterns,
  eventTypesOf,
  type EventPattern,
} from "../../src/webhooks/event-patterns.ts";
import { webhookDisabled } from "../../src/webhooks/events.ts";
import { deliveriesOfWebhook, webhookPatterns } from "../../src/webhooks/rows.ts";
import { memoryGround } from "../support/storage/storages.ts";
import { webhookWorld } from "./world.ts";

it("an event goes once to each webhook whose filter matches it", async () => {
  const filter = fc.uniqueArray(fc.constantFrom(...eventPatterns), {
    minLength: 1,
    maxLength: 6,
  });
  // Twelve webhooks can have more patterns than one read returns.
  const filters = fc.array(filter, { minLength: 1, maxLength: 12, size: "max" });
  const types = fc.uniqueArray(fc.constantFrom("message.received", "contact.created"), {
    minLength: 1,
  });
  await fc.assert(
    fc.asyncProperty(filters, types, async (drawn, emitted) => {
      const { desk, deliveries } = await webhookWorld(memoryGround());
      const expected: string[] = [];
      const hooks: { readonly id: string; readonly events: readonly EventPattern[] }[] = [];
      for (const [i, events] of drawn.entries()) {
        const url = `https://a${i}.example/`;
        const { id } = await desk.webhooks.create({ url, events });
        hooks.push({ id, events });
      }
      for (const type of emitted) {
        await desk.sandbox.event({ type });
        for (const { id, events } of hooks) {
          if (eventTypesOf(events).includes(type)) expected.push(`${type} ${id}`);
        }
      }
      const made = (await deliveries()).map((row) => `${row.event_type} ${row.webhook_id}`);
      expect(made.toSorted()).toEqual(expected.toSorted());
    }),
    { numRuns: 20 },
  );
});

it("events of several accounts and modes in one transaction go to their own webhooks only", async () => {
  const clock = virtualClock();
  const random = seededRandom(1);
  const store = new Store({
    port: memory(),
    schema,
    clock,
    random,
    logger: silent,
    projection: fanOut,
  });
  await store.open();
  const scopes: readonly Scope[] = [
    { account_id: "acct_1", mode: "sandbox" },
    { account_id: "acct_2", mode: "sandbox" },
    { account_id: "acct_1", mode: "live" },
  ];
  const hooks = scopes.map((scope) => ({ scope, webhook_id: store.drawId("wh") }));
  await store.commitUnscoped(async (tx) => {
    for (const { scope, webhook_id } of hooks) {
      tx.in(scope).insert(webhookPatterns, { pattern: "*", webhook_id });
    }
  });
  await store.commitUnscoped(async (tx) => {
    for (const { scope, webhook_id } of hooks) {
      const data = { webhook_id, url: "https://example.com", reason: "gone" };
      appendEvent(tx.in(scope), webhookDisabled, data, {});
    }
  });
  for (const { scope, webhook_id } of hooks) {
    const sent = await store
      .reads(scope)
      .range({ index: deliveriesOfWebhook, prefix: [webhook_id], order: "ascending", limit: 9 });
    const about = sent.map(({ body }) => (JSON.parse(body ?? "{}") as { data: unknown }).data);
    expect(about).toMatchObject([{ webhook_id }]);
  }
  await store.close();
});
