import { afterEach, expect } from "vitest";
import { strays } from "./carrier.ts";

/** Sandbox and live never mix, in whatever test. */
afterEach(() => {
  expect(strays.splice(0)).toEqual([]);
});
