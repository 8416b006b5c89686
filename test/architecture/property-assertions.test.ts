import { globSync } from "node:fs";
import { expect, test } from "vitest";
import { silentAssertions } from "./property-assertions.ts";

test("each assertion in a property says its rule in a sentence", () => {
  const paths = globSync("test/**/*.ts", { exclude: ["test/openapi-client/**"] });
  expect(silentAssertions(paths.map((path) => path.replaceAll("\\", "/")))).toEqual([]);
});

const helpers = `export function same(a, b) { expect(a).toBe(b); }`;
const findings = (...lines: string[]) => {
  const source = ["import fc from 'fast-check'; import { same } from './helpers.ts';", ...lines];
  const files = new Map([
    ["test/a.test.ts", source.join("\n")],
    ["test/helpers.ts", helpers],
  ]);
  return silentAssertions(["test/a.test.ts"], (path) => files.get(path));
};

test.each([
  ["a property", "fc.assert(fc.property(x, (n) => { expect(n).toBe(1); }));"],
  [
    "a property that waits",
    "fc.asyncProperty(x, async (n) => { await expect(n).resolves.toBe(1); })",
  ],
  ["a negation", "fc.property(x, (n) => expect(n).not.toBeLessThan(1))"],
  ["equality with a number", "fc.property(x, (n) => expect(n).toEqual(1))"],
  [
    "a function of the file",
    "fc.property(x, (n) => check(n)); function check(n) { expect(n).toBe(1); }",
  ],
  [
    "a function by its name",
    "fc.property(x, check); const check = (n) => expect(n).toHaveLength(1);",
  ],
  [
    "a model command",
    "fc.commands([x.map(go)]); const go = (n) => ({ run() { expect(n).toBe(1); } });",
  ],
])("an assertion without one is found in %s", (_, code) => {
  expect(findings(code)).toEqual(["test/a.test.ts:2"]);
});

test("an assertion without one is found in a function of another file", () => {
  expect(findings("fc.property(x, (n) => same(n, 1))")).toEqual(["test/helpers.ts:1"]);
});

test.each([
  "fc.property(x, (n) => { expect(n, 'One is drawn.').toBe(1); })",
  "fc.property(x, (n) => { expect({ n }).toEqual({ n: 1 }); })",
  "fc.property(x, (n) => { expect([n]).toEqual(others); })",
  "fc.property(x, (n) => n === 1); expect(runs).toBe(100); same(runs, 100);",
])("nothing is found in: %s", (code) => {
  expect(findings(code)).toEqual([]);
});
