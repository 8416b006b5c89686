/** The order of events of transactions that the host application can join, and of all others. */
import { describe, expect, it } from "vitest";
import type { Policy } from "../../../src/ports/policy.ts";
import { carrier } from "../../support/engines/carrier.ts";
import { world } from "../../support/engines/world.ts";
import { over } from "../../support/over.ts";
import { hosts } from "./hosts.ts";

describe.each(hosts)("the event log on $name", ({ open }) => {
  it("has the events of a message in their order, although nobody could read it meanwhile", async () => {
    const storage = (await open()).connect();
    const gate = { opened: Promise.resolve() };
    const gated = over(storage, {
      reader: over(storage.reader, {
        async range(range) {
          if (range.index.collection.name === "events") await gate.opened;
          return storage.reader.range(range);
        },
      }),
    });
    const { clock, started } = world();
    // A transaction that checks a policy is one that the application's statements can join.
    const policies: Policy[] = [{ name: "any", evaluate: () => ({ verdict: "allow" }) }];
    const one = await started(gated, { transports: [carrier()], policies });
    const at = (ms: number): string => new Date(clock.now() + ms).toISOString();
    const message = { to: "+15005550001", body: "Hello", send_at: at(3_600_000) };
    const { id } = await one.messages.send(message);
    await clock.advance(1_000);

    const { promise, resolve } = Promise.withResolvers<void>();
    gate.opened = promise;
    await one.messages.edit(id, { send_at: at(0) });
    await clock.advance(1_000);
    expect((await one.messages.get(id)).status).toBe("sent");
    resolve();
    const statuses: string[] = [];
    for (const { type, data } of (await one.events.list()).data) {
      if (type === "message.updated" && data.message_id === id) statuses.unshift(data.status);
    }
    expect(statuses).toEqual(["queued", "sending", "sent"]);
  });
});
