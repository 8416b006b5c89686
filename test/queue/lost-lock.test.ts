import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { SendAnswer } from "../../src/ports/transport.ts";
import { carrier, held } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";

const hello = { to: "+15005550001", body: "Hello" };

it.each([
  { freeMs: 500, keeps: "keeps its leases", status: "sending" },
  { freeMs: 60_000, keeps: "loses its leases", status: "ambiguous" },
])(
  "an engine whose lock is free for $freeMs ms $keeps, where a lock must be free for a second",
  async ({ freeMs, status }) => {
    const { clock, started } = world();
    const storage = memory();
    const one = await started(storage, {
      transports: [carrier({ send: () => held<SendAnswer>().promise })],
    });
    const { id } = await one.messages.send(hello);
    await clock.settle();

    const until = clock.now() + freeMs;
    const { engineLocks } = storage;
    if (engineLocks === undefined) throw new Error("the storage has no locks of engines");
    const afterBreak = over(storage, {
      engineLocks: {
        graceMs: 1_000,
        take: () => engineLocks.take(),
        findFree: async (ids) => (clock.now() < until ? ids : engineLocks.findFree(ids)),
      },
    });
    const two = await started(afterBreak);
    await clock.advance(4_000);
    expect((await two.messages.get(id)).status).toBe(status);
  },
);
