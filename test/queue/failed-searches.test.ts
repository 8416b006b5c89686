import { describe, expect, it } from "vitest";
import { jobsByDueTime } from "../../src/queue/jobs/rows.ts";
import { carrier } from "../support/engines/carrier.ts";
import { over } from "../support/over.ts";
import { storages } from "../support/storage/storages.ts";
import { world } from "../support/engines/world.ts";

describe.each(storages)("a failed search for due jobs, on $name", ({ open }) => {
  it("is repeated only when the searches of the other pools have ended", async () => {
    const { clock, engine, started, log } = world();
    const storage = open().connect();
    let failures = 1;
    let searches = 0;
    let most = 0;
    const reader = over(storage.reader, {
      async range(range) {
        const [pool] = range.prefix;
        if (range.index !== jobsByDueTime) return storage.reader.range(range);
        if (pool === "webhooks" && failures-- > 0) throw new Error("The connection broke.");
        if (pool === "work") {
          most = Math.max(most, ++searches);
          await clock.sleep(3_000);
          searches--;
        }
        return storage.reader.range(range);
      },
    });
    const line = carrier();
    const other = engine(storage, { transports: [line] });
    await other.messages.send({ to: "+15005550001", body: "Hi" });
    const client = { send: () => new Promise<never>(() => {}), close() {} };
    await started(over(storage, { reader }), { transports: [line], http: { client } });
    await clock.advance(2_999);
    expect([most, line.calls.length]).toEqual([1, 0]);
    await clock.advance(30_000);
    expect([most, line.calls.length]).toEqual([1, 1]);
    expect(
      log.filter(({ message }) => message === "jobs could not be read; retrying"),
    ).toHaveLength(1);
  });
});
