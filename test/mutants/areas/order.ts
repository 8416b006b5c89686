import { inArea } from "../mutant.ts";

/** Messages, events and rows out of their order. */
export const order = inArea("order", [
  {
    name: "retry-does-not-block",
    sentence:
      "A later message overtakes one that waits for a retry, so that a contact reads the answers " +
      "in the wrong order.",
    file: "src/messages/hand-over/begin-attempt.ts",
    find: "const [message, behind] = await tx.list(outbox, [conversation_id], 2);",
    replace:
      "const next = await tx.list(outbox, [conversation_id], 2);\n" +
      "    const message = next.find(({ retry_at }) => (retry_at ?? 0) <= tx.now) ?? next[0];\n" +
      "    const [, behind] = next;",
    tests: ["test/messages/evidence.test.ts"],
  },
  {
    name: "fifo-webhook-sends-several",
    sentence: "A webhook in order gets the next event before the last one was accepted.",
    file: "src/webhooks/sending/drain.ts",
    find: "(this.#ahead.isInOrder ? 1 : maxUnfinished)",
    replace: "maxUnfinished",
    tests: ["test/webhooks/read-ahead.test.ts", "test/webhooks/sending.test.ts"],
  },
  {
    name: "fifo-webhook-skips-failed",
    sentence: "A webhook in order gets later events while an earlier one waits for its retry.",
    file: "src/webhooks/sending/due-deliveries.ts",
    find: "return first === -1 ? automatic : automatic.slice(0, first);",
    replace: "return first === -1 ? automatic : automatic.filter(isDue);",
    tests: ["test/webhooks/read-ahead.test.ts", "test/webhooks/sending.test.ts"],
  },
  {
    name: "sequence-repeats",
    sentence: "Two messages of a conversation get the same sequence number, and one is not shown.",
    file: "src/conversations/write.ts",
    find: "message_count: message_count + 1,",
    replace: 'message_count: message_count + (direction === "inbound" ? 1 : 0),',
    tests: ["test/conversations/conversations.test.ts"],
  },
  {
    name: "marketing-goes-first",
    sentence: "A one-time code waits behind a campaign of the same account.",
    file: "src/queue/jobs/classes.ts",
    find: "const best = jobClasses.find((each) => waiting.includes(each));",
    replace: "const best = jobClasses.findLast((each) => waiting.includes(each));",
    tests: ["test/queue/classes.test.ts"],
  },
  {
    name: "class-is-never-raised",
    sentence:
      "A conversation that waits with a marketing message keeps its class when a one-time code " +
      "follows, so that the code waits with the campaign.",
    file: "src/queue/jobs/arm.ts",
    find: "const better = bestOf(classOf(decodeLane(job.lane)), classOf(order.lane));",
    replace: "const better = classOf(decodeLane(job.lane));",
    tests: ["test/queue/job-rows.test.ts"],
  },
  {
    name: "later-message-stands-where-written",
    sentence: "A reminder that was written days ago is sent, and stands above what was said since.",
    file: "src/messages/write-state.ts",
    find: "return place && { ...place, first_sequence };",
    replace: "return place && { sequence: first_sequence, first_sequence };",
    tests: ["test/conversations/thread-places.test.ts"],
  },
  {
    name: "last-activity-moves-back",
    sentence:
      "An engine whose clock is behind moves a conversation back in the inbox, so that a page " +
      "shows it twice.",
    file: "src/conversations/write.ts",
    find: "last_activity_at: Math.max(last_activity_at, now)",
    replace: "last_activity_at: now",
    tests: ["test/conversations/conversations.test.ts"],
  },
  {
    name: "new-message-overtakes-waiting-ones",
    sentence: "A new message takes the free slot of a message that waits.",
    file: "src/queue/dispatcher/pool-queue.ts",
    find: "this.#slots.nextPick(lane), room)",
    replace: "this.#slots.nextPick(lane), Infinity)",
    tests: ["test/queue/begin-at-once.test.ts", "test/queue/pool-queue.test.ts"],
  },
]);
