import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { messages } from "../../src/domain/messages/rows.ts";
import type { Group, Write } from "../../src/ports/storage.ts";
import { carrier } from "../support/carrier.ts";
import { LateStorage } from "../support/late-storage.ts";
import { over } from "../support/over.ts";
import { world } from "../support/world.ts";

const isHandOver = (write: Write): boolean =>
  write.kind === "update" && write.collection === messages && write.row["status"] === "sending";

it("a hand-over that has read what the address allows and not yet committed loses against an opt-out elsewhere", async () => {
  const { clock, engine } = world();
  const storage = new LateStorage(memory());
  const onTheWay = () => Promise.resolve();
  const slow = storage.connect({ onTheWay });
  let arrive: () => void = () => {};
  const arrives = new Promise<void>((resolve) => (arrive = resolve));
  let waiting = 0;
  const begin = (how?: "shared" | "exclusive"): Group => {
    const group = slow.begin(how);
    return over(group, {
      async commit(writes) {
        if (writes.some(isHandOver)) {
          waiting++;
          await arrives;
        }
        await group.commit(writes);
      },
    });
  };
  const line = carrier({ receipts: "none" });
  const one = engine(over(slow, { begin }), { transports: [line] });
  const two = engine(storage.connect({ onTheWay }));
  const phone = "+15005550101";
  const { id, contact_id } = await two.messages.send({ to: phone, body: "Hello" });
  await one.start();
  await clock.settle();
  expect([waiting, line.calls.length]).toEqual([1, 0]);
  // Not by STOP, whose confirmation writes the job that hands over: this writes nothing else that the two have in common.
  await two.contacts.setConsent(contact_id, "text", { status: "opted_out" });
  arrive();
  await clock.advance(10_000);
  expect(line.calls).toEqual([]);
  expect((await one.messages.get(id)).error).toMatchObject({ code: "recipient_opted_out" });
});
