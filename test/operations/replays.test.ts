import { describe, expect, it } from "vitest";
import { call, textOf } from "../api/call.ts";
import { lightStorages } from "../support/storage/storages.ts";
import { world } from "../support/engines/world.ts";
import { failingCommits } from "../support/storage/groups.ts";

describe.each(lightStorages)("a replay on $name", ({ open }) => {
  it("is called one only if all of it was there before", async () => {
    const { engine } = world();
    const port = open().connect();
    let allowed = Infinity;
    const storage = failingCommits(port, () => allowed-- <= 0);
    const one = engine(storage);
    const { key } = await one.accounts.create({ name: "batch" });
    const messages = Array.from({ length: 70 }, (_, n) => ({
      to: "+15005550001",
      body: String(n),
    }));
    const post = async (idempotencyKey: string): Promise<[number, string | undefined, string]> => {
      const answer = await call(one.api, {
        method: "POST",
        path: "/v1/messages/batch",
        key: key.secret ?? expect.fail(),
        headers: ["Idempotency-Key", idempotencyKey],
        body: { messages },
      });
      return [answer.status, answer.headers["Idempotent-Replayed"], textOf(answer)];
    };
    const interrupted: boolean[] = [];
    for (let commits = 0; commits < 5; commits++) {
      const name = `after-${commits}`;
      allowed = commits;
      const [status] = await post(name);
      allowed = Infinity;
      interrupted.push(status === 503);
      const [, replayed, body] = await post(name);
      expect(replayed).toBe(status === 503 ? undefined : "true");
      expect(await post(name)).toEqual([200, "true", body]);
    }
    expect(interrupted.slice(0, 3)).toEqual([true, true, true]);
  });
});
