import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../support/runs.ts";
import { storages } from "../support/storages.ts";
import { world } from "../support/world.ts";

const channels = ["sms", "mms"] as const;

it.each(storages)(
  "a sender is shown as default exactly while it is the default of one of its channels, on $name",
  async ({ name, open }) => {
    const { engine } = world();
    const one = engine(open().connect());
    const step = fc.record({
      nth: fc.nat(3),
      on: fc.option(fc.subarray([...channels], { minLength: 1 }), { nil: undefined }),
      standard: fc.option(fc.boolean(), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 3, maxLength: 12, size: "max" }),
        async (steps) => {
          const { account } = await one.accounts.create({ name: "test" });
          const handle = one.account(account.id);
          for (const address of ["+15551230001", "+15551230002"]) {
            await handle.senders.create({ address, channels: [...channels], transport: "sandbox" });
          }
          for (const { nth, on, standard } of steps) {
            const { data } = await handle.senders.list();
            const own = data.filter(({ address }) => address.startsWith("+"));
            const id = own[nth % own.length]?.id ?? "";
            const change = {
              ...(on === undefined ? {} : { channels: on }),
              ...(standard === undefined ? {} : { default: standard }),
            };
            const updated = await handle.senders.update(id, change);
            const listed = (await handle.senders.list()).data.filter(({ address }) =>
              address.startsWith("+"),
            );
            expect(listed.find((sender) => sender.id === id)).toEqual(updated);
            const used = await Promise.all(
              channels.map(
                async (channel) =>
                  (await handle.messages.preview({ to: "+15005550001", body: "Hi", channel })).from,
              ),
            );
            for (const sender of listed) {
              expect([sender.address, sender.default]).toEqual([
                sender.address,
                used.includes(sender.address),
              ]);
            }
          }
        },
      ),
      { numRuns: runs({ memory: 60, SQLite: 20, PostgreSQL: 8 }[name]) },
    );
  },
);
