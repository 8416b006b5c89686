import { expect, it } from "vitest";
import { postgres } from "../../adapters/storage/postgres/index.ts";
import { database } from "../support/postgres.ts";
import { realTimeStorage } from "../support/real-time-storage.ts";
import { world } from "../support/world.ts";

const minutes = 2;

it.each([1, 2, 4])(
  "%i idle engines on one PostgreSQL database send fewer than 2 statements a second each",
  async (count) => {
    const { clock, engine } = world();
    const where = await database();
    const proxies = await Promise.all(Array.from({ length: count }, () => where.proxy()));
    const client = { send: () => new Promise<never>(() => {}), close() {} };
    for (const proxy of proxies) {
      const storage = postgres({ pool: where.pool({ connectionString: proxy.url }) });
      await engine(
        realTimeStorage(
          storage,
          () => {},
          () => () => {},
        ),
        {
          http: { client },
          agents: { model: () => ({ text: "Hello" }) },
          sentiment: { score: async () => 0 },
        },
      ).start();
    }
    // The job that removes expired rows runs first.
    await clock.advance(30_000);
    const before = proxies.map(({ statements }) => statements);
    await clock.advance(minutes * 60_000);
    for (const [i, { statements }] of proxies.entries()) {
      expect((statements - (before[i] ?? 0)) / minutes).toBeLessThan(2 * 60);
    }
  },
);
