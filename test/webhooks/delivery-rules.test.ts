import { expect, test } from "vitest";
import {
  automaticAt,
  manualAttemptRefusal,
  maxManualAttempts,
  shownStatus,
  storedStatuses,
} from "../../src/webhooks/deliveries/delivery-rules.ts";

test("a pending delivery is shown as parked while its webhook is not enabled", () => {
  for (const status of ["paused", "disabled"] as const) {
    expect(shownStatus("pending", status)).toBe("parked");
    expect(shownStatus("failed", status)).toBe("failed");
    expect(storedStatuses("parked", status)).toEqual(["pending"]);
    expect(storedStatuses("pending", status)).toEqual([]);
  }
  expect(shownStatus("pending", "enabled")).toBe("pending");
  expect(storedStatuses("parked", "enabled")).toEqual([]);
  expect(storedStatuses("canceled", "enabled")).toEqual(["canceled"]);
  expect(storedStatuses(undefined, "enabled")).toEqual([
    "pending",
    "succeeded",
    "failed",
    "canceled",
  ]);
});

test("a delivery without a body, or with too many attempts, gets no manual attempt", () => {
  expect(manualAttemptRefusal({ body: null, attempts: 0 })).toBe("erased");
  expect(manualAttemptRefusal({ body: "{}", attempts: maxManualAttempts })).toBe("exhausted");
  expect(manualAttemptRefusal({ body: "{}", attempts: maxManualAttempts - 1 })).toBeUndefined();
});

test("the next automatic attempt waits for the end of a pause, and for the webhook to be enabled", () => {
  const now = Date.UTC(2026, 0, 1);
  const enabled = { status: "enabled", paused_until: now + 2 } as const;
  expect(automaticAt(enabled, { next_attempt_at: now + 1 }, now)).toBe(now + 2);
  expect(automaticAt(enabled, { next_attempt_at: now + 3 }, now)).toBe(now + 3);
  expect(automaticAt(enabled, { next_attempt_at: null }, now)).toBe(Infinity);
  const paused = { ...enabled, status: "paused" } as const;
  expect(automaticAt(paused, { next_attempt_at: now + 1 }, now)).toBe(Infinity);
});
