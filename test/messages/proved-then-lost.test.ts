import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { attempts } from "../../src/messages/rows.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";

it("a message whose lost attempt is proved is sent", async () => {
  const { clock, started } = world();
  const storage = memory();
  const one = await started(storage, {
    transports: [carrier({ send: () => new Promise(() => {}) })],
  });
  const { id } = await one.messages.send({ to: "+15005550001", body: "Hello" });
  await clock.settle();
  const all = { index: attempts.primary, prefix: [], order: "ascending", limit: 10 } as const;
  const [pending] = await storage.reader.range(all);
  const row = pending ?? expect.fail("no attempt");
  const version = Number(Reflect.get(row, "version"));
  const key = attempts.primary.columns.map((name) => String(Reflect.get(row, name)));
  const proved = { ...row, outcome: "accepted", version: version + 1 };
  await storage
    .begin()
    .commit([
      { kind: "update", collection: attempts, key, version, row: proved, changed: ["outcome"] },
    ]);
  const line = carrier();
  const two = await started(storage, { transports: [line] });
  await clock.advance(120_000);
  expect((await two.messages.get(id)).status).toBe("sent");
  expect(line.calls).toEqual([]);
});
