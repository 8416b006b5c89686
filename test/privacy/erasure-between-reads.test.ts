import { expect, it } from "vitest";
import { attempts } from "../../src/messages/rows.ts";
import { carrier } from "../support/engines/carrier.ts";
import { storages } from "../support/storage/storages.ts";
import { world } from "../support/engines/world.ts";
import { beforeReads } from "../support/storage/groups.ts";

// Elsewhere all reads of a command show the same moment.
const readingOverTime = storages.filter(({ name }) => name === "PostgreSQL");

it.each(readingOverTime)(
  "a message that is erased while its lost attempt is read fails no job, on $name",
  async ({ open }) => {
    const { clock, engine, started, log } = world();
    const ground = open();
    const first = await started(ground.connect(), {
      transports: [carrier({ send: () => new Promise(() => {}) })],
    });
    const { id, contact_id } = await first.messages.send({ to: "+15005550101", body: "Hi" });
    await clock.advance(1_000);
    expect((await first.messages.get(id)).status).toBe("sending");
    await first.stop({ deadlineMs: 0 });
    const other = engine(ground.connect());
    let erasures = 0;
    const erased = beforeReads(ground.connect(), async (lookups) => {
      if (!lookups.some(({ index }) => index.collection === attempts)) return;
      if (erasures++ === 0) await other.contacts.erase(contact_id);
    });
    await started(erased, { transports: [carrier()] });
    await clock.advance(120_000);
    expect(erasures).toBeGreaterThan(0);
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  },
);
