import { expect, it } from "vitest";
import { postgres } from "../../adapters/storage/postgres/index.ts";
import { world } from "../support/engines/world.ts";
import { database } from "../support/postgres/test-database.ts";
import { cases, isLong } from "../support/runs.ts";
import { realTimeStorage } from "../support/storage/real-time-storage.ts";

const minutes = isLong ? 2 : 0.5;

const crowds = [
  { count: 1, consumers: 0 },
  { count: 2, consumers: 0 },
  { count: 4, consumers: 0 },
  { count: 2, consumers: 1 },
];

it.each(cases(crowds, ({ count, consumers }) => count === 2 && consumers === 1))(
  "$count idle engines with $consumers consumers on one PostgreSQL database send fewer than 2 statements a second each, and one more for each consumer",
  async ({ count, consumers }) => {
    const { clock, engine } = world();
    const where = await database();
    const proxies = await Promise.all(Array.from({ length: count }, () => where.proxy()));
    const client = { send: () => new Promise<never>(() => {}), close() {} };
    for (const proxy of proxies) {
      const storage = postgres({ pool: where.pool({ connectionString: proxy.url }) });
      const each = engine(
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
      );
      for (let n = 0; n < consumers; n++) each.consume(`c${n}`, ["message.sent"], async () => {});
      await each.start();
    }
    // The job that removes expired rows runs first.
    await clock.advance(30_000);
    const before = proxies.map(({ statements }) => statements);
    await clock.advance(minutes * 60_000);
    for (const [i, { statements }] of proxies.entries()) {
      expect((statements - (before[i] ?? 0)) / minutes).toBeLessThan((2 + consumers) * 60);
    }
  },
);
