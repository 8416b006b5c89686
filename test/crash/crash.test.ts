import { expect, test } from "vitest";
import { crashedStorage } from "./crashed-storage.ts";
import { crash } from "./judge.ts";

test.each([
  { name: "sqlite", cut: false, told: "of the one process on SQLite" },
  {
    name: "postgres",
    cut: true,
    told: "of three processes on PostgreSQL, whose connections are cut as well,",
  },
] as const)(
  "what was acknowledged survives kill -9 $told and reaches its end, and nothing is done twice",
  async ({ name, cut }) => {
    await using storage = await crashedStorage(name);
    const { lost, doubled, broken, acknowledged } = await crash({
      storage,
      kills: 10,
      cut,
      seed: 7,
    });
    expect({ lost, doubled, broken }).toEqual({ lost: [], doubled: [], broken: [] });
    expect(acknowledged).toBeGreaterThan(50);
  },
);
