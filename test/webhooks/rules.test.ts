import { describe, expect, it, test } from "vitest";
import type { HttpOutcome } from "../../src/ports/http-client.ts";
import type { WebhookRow } from "../../src/webhooks/rows.ts";
import { pausedUntil, webhookAfterAttempt } from "../../src/webhooks/rules.ts";
import { maxPauseMs } from "../../src/webhooks/sending/schedule.ts";

const dayMs = 86_400_000;
const now = 20_000 * dayMs;

const webhook: WebhookRow = {
  account_id: "acct_1",
  mode: "live",
  id: "wh_1",
  ordinal: 0,
  url: "https://example.com",
  events: ["*"],
  headers: {},
  ordering: "none",
  description: null,
  status: "enabled",
  disabled_reason: null,
  secret: "whsec_",
  previous_secret: null,
  previous_expires_at: null,
  proven: true,
  streak: null,
  paused_until: null,
  recover_after: null,
  recover_since: null,
  created_at: 0,
  updated_at: 0,
};
const answered = (status: number, headers: Record<string, string> = {}): HttpOutcome => ({
  outcome: "answered",
  status,
  headers,
  body: new Uint8Array(),
  truncated: false,
  address: "192.0.2.1",
});
const after = (differs: Partial<WebhookRow>, outcome: HttpOutcome) =>
  webhookAfterAttempt({ ...webhook, ...differs }, { outcome, ended_at: now });

describe("a webhook after an automatic attempt", () => {
  const first = { since: now, attempts: 1, days: 1, last_day: 20_000 };
  const long = { since: now - 5 * dayMs, attempts: 9, days: 3, last_day: 20_000 };

  it("is proven by a success, which ends a series of failures", () => {
    const proven = { proven: true, streak: null };
    expect(after({}, answered(204))).toBeUndefined();
    expect(after({ proven: false }, answered(204))).toEqual(proven);
    expect(after({ streak: first }, answered(204))).toEqual(proven);
  });

  it("is no longer proven after a failure, and counts it", () => {
    expect(after({}, answered(500))).toEqual({ proven: false, streak: first });
    const dayBefore = { since: now - dayMs, attempts: 4, days: 2, last_day: 19_999 };
    expect(after({ streak: dayBefore }, answered(500))).toEqual({
      proven: false,
      streak: { since: now - dayMs, attempts: 5, days: 3, last_day: 20_000 },
    });
  });

  it("is disabled by a 410, and by failures that last; if it is enabled", () => {
    expect(after({}, answered(410))).toMatchObject({
      status: "disabled",
      disabled_reason: "gone",
    });
    const streak = { ...long, attempts: 10 };
    expect(after({ streak: long }, answered(500))).toEqual({
      proven: false,
      streak,
      status: "disabled",
      disabled_reason: "failing",
    });
    for (const outcome of [answered(410), answered(429, { "retry-after": "60" })]) {
      const changes = after({ streak: long, status: "paused" }, outcome);
      expect(changes).toEqual({ proven: false, streak });
    }
  });

  it("pauses as long as the receiver asks, and never for less than before", () => {
    const busy = answered(429, { "retry-after": "60" });
    const failing = { proven: false, streak: first };
    expect(after({}, busy)).toEqual({ ...failing, paused_until: now + 60_000 });
    const paused_until = now + 90_000;
    expect(after({ paused_until }, busy)).toEqual({ ...failing, paused_until });
  });
});

test("a pause ends when the receiver asked, or at once if the clock was set back", () => {
  expect(pausedUntil({ paused_until: null }, now)).toBe(0);
  const longest = now + 2 * maxPauseMs;
  expect(pausedUntil({ paused_until: longest }, now)).toBe(longest);
  expect(pausedUntil({ paused_until: longest + 1 }, now)).toBe(0);
});
