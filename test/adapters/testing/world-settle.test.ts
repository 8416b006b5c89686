/** What `settle` of a world waits for. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MessagingEngine } from "../../../adapters/entry.ts";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { scriptedCarrier, world } from "../../../adapters/testing/index.ts";
import { runs } from "../../support/runs.ts";

const to = "+15005550101";
const body = "Your order is ready.";

describe("settle", () => {
  test("says what is still to be done when it takes too long", async () => {
    const w = world({ storage: memory(), transports: [scriptedCarrier()] });
    await w.run((engine) => engine.messages.send({ to, body, send_at: "2026-02-01T00:00:00Z" }));
    void w.begin(() => new Promise(() => {}), { as: "wait for ever", withinMs: Infinity });
    await expect(w.settle({ withinMs: 60_000 })).rejects.toThrow(
      /did not settle within 60000 ms\. Still to be done:\n {2}the call "wait for ever" is not answered\n {2}the job release .* is due in \d+ s\nWhat happened:/,
    );
  });

  test.each(["at once", "later"])(
    "fails if the engine of a process that restarts %s cannot be made",
    async (when) => {
      let canMake = true;
      const w = world({
        storage: memory(),
        transports: [scriptedCarrier()],
        engine: (ports) => {
          if (!canMake) throw new RangeError("there is no configuration");
          return new MessagingEngine(ports);
        },
      });
      await w.run((engine) => engine.messages.list());
      canMake = false;
      w.crash("engine 1", when === "later" ? { forMs: 100 } : {});
      await w.advance(1_000);
      expect(w.up).toEqual([]);
      expect(await w.pending()).toEqual([
        when === "later"
          ? "engine 1 cannot start: RangeError: there is no configuration"
          : "engine 1 is down",
      ]);
      await expect(w.settle()).rejects.toThrow("there is no configuration");
      canMake = true;
      await w.settle();
      expect((await w.run((engine) => engine.messages.list())).data).toEqual([]);
    },
  );

  test("does not wait for a call that named an engine which does not exist", async () => {
    const w = world({ storage: memory(), transports: [scriptedCarrier()] });
    const call = w.begin((engine) => engine.messages.list(), { engine: "engine 2" });
    await expect(call).rejects.toThrow('There is no "engine 2". The engines are: engine 1.');
    expect(await w.pending()).toEqual([]);
    await w.settle({ withinMs: 60_000 });
  });

  test("waits until every engine reaches the storage again", async () => {
    const w = world({ storage: memory(), transports: [scriptedCarrier()] });
    await w.run((engine) => engine.messages.list());
    w.inject("connectionLost");
    await w.begin((engine) => engine.messages.list()).catch(() => {});
    await w.settle();
    expect((await w.engine().messages.list()).data).toEqual([]);
  });

  test("brings every world of random faults to rest, with nothing handed over twice", async () => {
    const count = fc.integer({ min: 1, max: 4 });
    await fc.assert(
      fc.asyncProperty(fc.integer(), count, async (seed, messages) => {
        const carrier = scriptedCarrier();
        const w = world({
          seed,
          storage: memory(),
          transports: [carrier],
          engines: 2,
          faults: "any",
        });
        for (let i = 0; i < messages; i++) {
          void w.begin((engine) => engine.messages.send({ to, body }));
          await w.advance(w.dice.between(0, 5_000));
        }
        await w.settle();
        expect(await w.pending()).toEqual([]);
        const ids = carrier.handedOver.map(({ message }) => message.message_id);
        expect(new Set(ids).size, `No message is handed over twice: ${ids.join(", ")}.`).toBe(
          ids.length,
        );
      }),
      { numRuns: runs(15) },
    );
  });
});
