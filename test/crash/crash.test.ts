import { expect, test } from "vitest";
import { crash } from "./judge.ts";
import { crashedStorage } from "./storages.ts";

test(
  "what was acknowledged survives kill -9 on SQLite and reaches its end, and nothing is done twice",
  { timeout: 120_000 },
  async () => {
    await using storage = await crashedStorage();
    const { lost, doubled, broken, acknowledged } = await crash({ storage, kills: 10, seed: 7 });
    expect({ lost, doubled, broken }).toEqual({ lost: [], doubled: [], broken: [] });
    expect(acknowledged).toBeGreaterThan(50);
  },
);
