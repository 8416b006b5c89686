import { expect, test } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { conversations } from "../../src/conversations/rows.ts";
import { world } from "../support/engines/world.ts";
import { beforeCommits } from "../support/storage/groups.ts";

const phone = "+15005551001";

test("a message writes the columns of the waiting list only if it changes them", async () => {
  const storage = memory();
  const written: string[][] = [];
  const listed = ["unassigned", "waiting_for", "waiting_since"];
  const recorded = beforeCommits(storage, (writes) => {
    for (const write of writes) {
      if (write.kind !== "update" || write.collection !== conversations) continue;
      if (!write.changed.includes("message_count")) continue;
      written.push(write.changed.filter((column) => listed.includes(column)));
    }
  });
  const { engine } = world();
  const { messages, sandbox } = engine(recorded);
  const steps = [
    () => messages.send({ to: phone, body: "Your order is ready." }),
    () => messages.send({ to: phone, body: "We are open until six." }),
    () => sandbox.inbound({ from: phone, body: "Thanks" }),
    () => sandbox.inbound({ from: phone, body: "Where are you?" }),
  ];
  const byStep: string[][][] = [];
  for (const step of steps) {
    await step();
    byStep.push(written.splice(0));
  }
  expect(byStep.slice(1)).toEqual([[[]], [listed], [[]]]);
});
