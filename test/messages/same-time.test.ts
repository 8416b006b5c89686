/** Messages of a conversation that are scheduled for the same time. */
import { describe, expect, it } from "vitest";
import { messages } from "../../src/messages/rows.ts";
import { beforeCommits } from "../support/before-commits.ts";
import { carrier } from "../support/carrier.ts";
import { lightStorages } from "../support/storages.ts";
import { world } from "../support/world.ts";

const minute = 60_000;
const to = "+15005550001";

describe.each(lightStorages)(
  "messages that are scheduled for the same time, on $name",
  ({ open }) => {
    it.each(["send_at", "quiet hours"])(
      "are handed over in order, though one engine is slow with the first: %s",
      async (why) => {
        const { clock, engine } = world();
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
        // It runs one job at a time, so it takes only the first message.
        const one = engine(slow, { ...options, concurrency: 1 });
        await one.start();
        const due = clock.now() + minute - (clock.now() % minute);
        const how =
          why === "quiet hours"
            ? { category: "marketing" as const }
            : { send_at: new Date(due).toISOString() };
        const nextDay = new Date(due + 24 * 60 * minute).toISOString();
        for (let n = 0; n < 60; n++) {
          await one.messages.send({ to, body: "Reminder", send_at: nextDay });
        }
        for (const body of ["first", "second", "third"]) {
          await one.messages.send({ to, body, ...how });
          await clock.settle();
        }
        await clock.advance(due - clock.now() - 1_000);
        isSlow = true;
        await clock.advance(1_001);
        const other = engine(ground.connect(), options);
        await other.start();
        await clock.advance(minute);
        expect(line.calls.map(({ message }) => message.body)).toEqual(["first", "second", "third"]);
      },
    );
  },
);
