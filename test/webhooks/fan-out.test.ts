import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { seededRandom, virtualClock } from "../../adapters/testing/index.ts";
import { appendEvent } from "../../src/events/rows.ts";
import { idSource, type Scope } from "../../src/kernel/ids.ts";
import { schema } from "../../src/modules.ts";
import { silent } from "../../src/ports/environment.ts";
import { Store } from "../../src/store/store.ts";
import { webhookDisabled } from "../../src/webhooks/event-catalog.ts";
import { fanOut } from "../../src/webhooks/fan-out.ts";
import { deliveriesOfWebhook, webhookPatterns } from "../../src/webhooks/rows.ts";

it("events of several accounts and modes in one transaction go to their own webhooks only", async () => {
  const clock = virtualClock();
  const random = seededRandom(1);
  const drawId = idSource(clock, random);
  const projection = fanOut(drawId);
  const store = new Store({ port: memory(), schema, clock, random, logger: silent, projection });
  await store.open();
  const scopes: readonly Scope[] = [
    { account_id: "acct_1", mode: "sandbox" },
    { account_id: "acct_2", mode: "sandbox" },
    { account_id: "acct_1", mode: "live" },
  ];
  const hooks = scopes.map((scope) => ({ scope, webhook_id: drawId("wh") }));
  await store.commitUnscoped(async (tx) => {
    for (const { scope, webhook_id } of hooks) {
      tx.in(scope).insert(webhookPatterns, { pattern: "*", webhook_id });
    }
  });
  await store.commitUnscoped(async (tx) => {
    for (const { scope, webhook_id } of hooks) {
      const data = { webhook_id, url: "https://example.com", reason: "gone" };
      appendEvent(tx.in(scope), drawId, webhookDisabled, data, {});
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
