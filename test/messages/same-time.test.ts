/** Messages of a conversation that are scheduled for the same time. */
import { describe, expect, it } from "vitest";
import type { MessagingEngine } from "../../src/engine.ts";
import { messages } from "../../src/messages/rows.ts";
import type { Message } from "../../src/messages/types.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { all } from "../support/pages.ts";
import { beforeCommits } from "../support/storage/groups.ts";
import { lightStorages } from "../support/storage/storages.ts";

const minute = 60_000;
const to = "+15005550001";

/** Returns the ids of the messages that were scheduled and then queued, in order. */
async function queuedIn({ events }: MessagingEngine): Promise<readonly string[]> {
  const updates = await all((page) => events.list({ ...page, type: "message.updated" }));
  return updates
    .toReversed()
    .flatMap(({ data }) => (data.previous_status === "scheduled" ? [data.message_id] : []));
}

describe.each(lightStorages)(
  "messages that are scheduled for the same time, on $name",
  ({ open }) => {
    it.each([
      { why: "send_at", count: 3, concurrency: 1 },
      { why: "quiet hours", count: 3, concurrency: 1 },
      // More than one transaction queues.
      { why: "send_at", count: 61, concurrency: 60 },
    ])(
      "go out in order, though one engine is slow with the first: $count because of $why",
      async ({ why, count, concurrency }) => {
        const { clock, started } = world();
        const ground = open();
        const line = carrier();
        let isSlow = false;
        const slow = beforeCommits(ground.connect(), async (writes) => {
          if (isSlow && writes.some(({ collection }) => collection === messages)) {
            await clock.sleep(5_000);
          }
        });
        const quietHours = { from: "00:00", to: "00:01" };
        const options = { transports: [line], ...(why === "quiet hours" ? { quietHours } : {}) };
        // It takes no more messages than it runs jobs at a time.
        const one = await started(slow, { ...options, concurrency });
        const due = clock.now() + minute - (clock.now() % minute);
        const how =
          why === "quiet hours"
            ? { category: "marketing" as const }
            : { send_at: new Date(due).toISOString() };
        const nextDay = new Date(due + 24 * 60 * minute).toISOString();
        for (let n = 0; n < 60; n++) {
          await one.messages.send({ to, body: "Reminder", send_at: nextDay });
        }
        const sent: Message[] = [];
        for (let n = 1; n <= count; n++) {
          sent.push(await one.messages.send({ to, body: `Reminder ${n}`, ...how }));
          await clock.settle();
        }
        await clock.advance(due - clock.now() - 1_000);
        isSlow = true;
        await clock.advance(1_001);
        const other = await started(ground.connect(), options);
        await clock.advance(minute);
        const ids = sent.map(({ id }) => id);
        expect(await queuedIn(other), "queued in order").toEqual(ids);
        expect(
          line.calls.map(({ message }) => message.message_id),
          "handed over in order",
        ).toEqual(ids);
      },
    );
  },
);
