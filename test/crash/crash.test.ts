import { expect, test } from "vitest";
import { crash } from "./crash.ts";
import { crashedStorage } from "./crashed-storage.ts";

test.each([
  { name: "sqlite", cut: false, processes: "one process on SQLite" },
  {
    name: "postgres",
    cut: true,
    processes: "three processes on PostgreSQL, whose connections are cut as well,",
  },
] as const)(
  "after kill -9 of $processes no acknowledged message is lost and nothing is done twice",
  async ({ name, cut }) => {
    await using storage = await crashedStorage(name);
    const { lost, duplicated, violations, acknowledged } = await crash({
      storage,
      kills: 10,
      cut,
      seed: 7,
    });
    expect({ lost, duplicated, violations }).toEqual({ lost: [], duplicated: [], violations: [] });
    expect(acknowledged).toBeGreaterThan(50);
  },
);
