/** Jobs that another version of the engine has stored, which has other classes. */
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { jobByName, jobs } from "../../src/queue/jobs/rows.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";

it.each([
  { what: "a class that this version does not have", change: (lane: string) => `${lane}_soon` },
  { what: "no class", change: (lane: string) => lane.slice(0, lane.lastIndexOf("/")) },
])("a job with $what runs", async ({ change }) => {
  const { clock, engine } = world();
  const storage = memory();
  const line = carrier();
  const sends = engine(storage, { transports: [line] });
  const { id, conversation_id } = await sends.messages.send({ to: "+15005550001", body: "Hello" });
  const key = ["send", conversation_id];
  const [[job = expect.fail()] = []] = await storage.reader.get([
    { index: jobByName, key, limit: 1 },
  ]);
  const version = Number(job["version"]);
  const row = { ...job, lane: change(String(job["lane"])), version: version + 1 };
  await storage
    .begin()
    .commit([{ kind: "update", collection: jobs, key, version, row, changed: ["lane"] }]);

  await sends.start();
  await clock.advance(10_000);
  expect((await sends.messages.get(id)).status).toBe("sent");
});
