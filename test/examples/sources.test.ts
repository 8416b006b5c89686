import * as imported from "tidings";
import { expect, test } from "vitest";
import * as source from "../../adapters/entry.ts";

test("the package that tests of examples and documents import is its sources, not the last build", () => {
  expect(imported).toBe(source);
});
