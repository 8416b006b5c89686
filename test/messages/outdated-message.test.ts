import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { SharedStorage } from "../../adapters/testing/world/ports/shared-storage.ts";
import { attempts } from "../../src/messages/rows.ts";
import type { SendAnswer, Transport } from "../../src/ports/transport.ts";
import { busy, carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { withGroups, writesTo } from "../support/storage/groups.ts";

it("a receipt is judged by the present state of its message, not by that of a commit in progress", async () => {
  const { clock, engine } = world();
  const shared = new SharedStorage(memory());
  const storage = shared.connect();
  const { promise: told, resolve: tell } = Promise.withResolvers<void>();
  // The engine learns late that its first attempt was recorded.
  const slow = withGroups(storage, {
    async commit(writes, group) {
      await group.commit(writes);
      if (writes.some(writesTo(attempts, "update"))) await told;
    },
  });
  const send = (): SendAnswer => busy(1_000);
  const routes = [{ transports: ["sandbox", "second"] }];
  const first = carrier({ send });
  const transports = [first, carrier({ name: "second", send })];
  const one = engine(slow, { transports, routes });
  const hung = carrier({ send: () => new Promise(() => {}) });
  const others: Transport[] = [hung, carrier({ name: "second", send })];
  const two = engine(shared.connect(), {
    transports: others,
    routes,
  });
  await one.start();
  const { id } = await one.messages.send({ to: "+15005550001", body: "Hello" });
  await two.start();
  // The lease of the first engine ends. The second one tries both carriers again.
  await clock.advanceUntil(() => hung.calls.length > 0);
  const attempt = hung.attempt();
  expect([attempt.number, (await two.messages.get(id)).status]).toEqual([3, "sending"]);
  const error = { code: "carrier_unavailable", message: "" } as const;
  const subject = { attempt_id: attempt.attempt_id, provider_message_id: "p-3" };
  const receipt = first.sink().receipt(subject, { status: "undelivered", at: clock.now(), error });
  await clock.settle();
  tell();
  await clock.settle();
  await receipt;
  expect((await two.messages.get(id)).status).toBe("undelivered");
});
