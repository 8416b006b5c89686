import { expect, test } from "vitest";
import { deliverJob, discardJob, recoverJob } from "../../src/webhooks/job-orders.ts";

const now = Date.UTC(2026, 0, 1);
const webhook = { account_id: "acct_1", mode: "live", id: "wh_1", proven: true } as const;

test("each webhook has one job of each kind, and a slow lane for deliveries while it is unproven", () => {
  const { account_id, mode, id: webhook_id } = webhook;
  const job = { key: { webhook_id }, account_id, mode, due_at: now };
  const lane = { kind: "deliver", slow: false, webhook_id };
  expect(deliverJob(webhook, now)).toEqual({ ...job, kind: "deliver", lane });
  expect(deliverJob({ ...webhook, proven: false }, now).lane).toEqual({ ...lane, slow: true });
  for (const [kind, order] of [
    ["recover", recoverJob],
    ["discard", discardJob],
  ] as const) {
    expect(order(webhook, now)).toEqual({ ...job, kind, lane: { kind, slow: false } });
  }
});
