import { expect, it } from "vitest";
import { messageStatuses } from "../../src/kernel/message-status.ts";
import { firstFollowUpAt } from "../../src/messages/attempts/follow-up-times.ts";
import type { AttemptRow, MessageRow } from "../../src/messages/rows.ts";
import type { FactsByTransport } from "../../src/operations/transport-facts.ts";

const receipts = { lookups_ms: [60_000], timeout_ms: 600_000 };
const factsByTransport = new Map([
  ["carrier", { canLookUp: true, receipts }],
]) as unknown as FactsByTransport;
const attempt = {
  transport: "carrier",
  outcome: "accepted",
  lookups: 1,
  started_at: 0,
  leased_until: 0,
} as AttemptRow;

it("an accepted attempt is followed up only while its message is sent", () => {
  for (const status of messageStatuses) {
    const at = firstFollowUpAt(attempt, { status } as MessageRow, factsByTransport, 1_000);
    expect([status, at !== undefined]).toEqual([status, status === "sent"]);
  }
});
