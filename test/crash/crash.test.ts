import { expect, test } from "vitest";
import { cases, isLong } from "../support/runs.ts";
import { crash } from "./crash.ts";
import { crashedStorage } from "./storages/crashed-storage.ts";

const crashes = [
  { name: "sqlite", cut: false, kills: isLong ? 10 : 2, processes: "one process on SQLite" },
  {
    name: "postgres",
    cut: true,
    kills: 6,
    processes: "three processes on PostgreSQL, whose connections are cut as well,",
  },
] as const;

// On PostgreSQL, a single kill takes more than twice as long as two on SQLite.
test.each(cases(crashes, ({ name }) => name === "sqlite"))(
  "after kill -9 of $processes no acknowledged message is lost and nothing is done twice",
  // Each of its steps has a deadline, whose error names the step.
  { timeout: 900_000 },
  async ({ name, cut, kills }) => {
    await using storage = await crashedStorage(name);
    const { lost, duplicated, violations, acknowledged } = await crash({
      storage,
      kills,
      cut,
      seed: 7,
    });
    expect({ lost, duplicated, violations }).toEqual({ lost: [], duplicated: [], violations: [] });
    expect(acknowledged).toBeGreaterThan(50);
  },
);
