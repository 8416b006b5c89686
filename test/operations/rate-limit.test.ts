import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { call } from "../api/call.ts";
import { world } from "../support/engines/world.ts";
import { storages } from "../support/storage/storages.ts";

const path = "/v1/account";

describe.each(storages)("the rate limit of a key on $name", ({ name, open }) => {
  it("admits 100 requests in any one second, then answers with Retry-After", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { key } = await one.accounts.create({ name: "busy" });
    const ask = () => call(one.api, { path, key: key.secret });
    for (let i = 0; i < 100; i++) expect((await ask()).status).toBe(200);
    await clock.advance(400);
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(refused.body).toContain('"code":"rate_limited"');
    expect(refused.headers).toMatchObject({
      "Retry-After": "1",
      "RateLimit-Policy": '"requests";q=100;w=1',
      RateLimit: '"requests";r=0;t=1',
    });
    await clock.advance(599);
    expect((await ask()).status).toBe(429);
    await clock.advance(1);
    expect((await ask()).status).toBe(200);
  });

  it("counts a rotated secret together with the previous one, and other keys separately", async () => {
    const { engine } = world();
    const one = engine(open().connect());
    const { account, key } = await one.accounts.create({ name: "busy" });
    const handle = one.account(account.id);
    const rotated = await handle.apiKeys.rotate(key.id);
    const other = await handle.apiKeys.create({ name: "other" });
    const ask = async (secret: string | null): Promise<number> =>
      (await call(one.api, { path, key: secret ?? "" })).status;
    for (let i = 0; i < 100; i++) {
      expect(await ask(i % 2 === 0 ? key.secret : rotated.secret)).toBe(200);
    }
    expect([await ask(key.secret), await ask(rotated.secret), await ask(other.secret)]).toEqual([
      429, 429, 200,
    ]);
  });

  it("is exact in every window, by the account's plan", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 10, maxLength: 60 }),
        async (gaps) => {
          const { clock, engine } = world();
          const one = engine(open().connect());
          const { key } = await one.accounts.create({
            name: "small",
            plan: { name: "small", requests_per_second: 5 },
          });
          const admitted: number[] = [];
          for (const gap of gaps) {
            await clock.advance(gap);
            const now = clock.now();
            const before = admitted.filter((at) => at > now - 1_000).length;
            const { status } = await call(one.api, { path, key: key.secret });
            expect(
              status,
              `At a limit of 5, a request after ${before} in the last second is admitted if there is room.`,
            ).toBe(before < 5 ? 200 : 429);
            if (status === 200) admitted.push(now);
          }
          await one.stop();
        },
      ),
      { numRuns: { memory: 15, SQLite: 15, PostgreSQL: 4 }[name] },
    );
  });
});
