import { expect, test } from "vitest";
import { turnJob } from "../../src/agents/job-orders.ts";
import { queueTimeoutJob } from "../../src/conversations/job-orders.ts";

const now = Date.UTC(2026, 0, 1);

test("a conversation has one job for its turns, in the account's lane, and one for its queue timeout", () => {
  const scope = { account_id: "acct_1", mode: "live" } as const;
  const key = { conversation_id: "conv_1" } as const;
  const conversation = { ...scope, id: key.conversation_id };
  expect(turnJob(conversation, now)).toEqual({
    kind: "turn",
    key,
    ...scope,
    lane: { kind: "turn", slow: false, ...scope, class: "single" },
    due_at: now,
  });
  expect(queueTimeoutJob(conversation, now)).toEqual({
    kind: "queue-timeout",
    key,
    ...scope,
    lane: { kind: "queue-timeout", slow: false },
    due_at: now,
  });
});
