import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { isBusy, isStale } from "../../../../adapters/storage/sqlite/errors.ts";

it("errors of SQLite are recognized in Jest, which has an `Error` of its own", () => {
  const error: unknown = runInNewContext('Object.assign(new Error("locked"), { errcode: 517 })');
  expect(error).not.toBeInstanceOf(Error);
  expect([isBusy(error), isStale(error)]).toEqual([true, true]);
});
