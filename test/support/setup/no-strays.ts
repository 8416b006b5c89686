import { afterEach, expect } from "vitest";
import { strays } from "../engines/carrier.ts";

/** After every test: no sandbox message went to a live carrier, and no live one to a sandbox. */
afterEach(() => {
  expect(strays.splice(0)).toEqual([]);
});
