import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  modelConformance,
  mountConformance,
  storageConformance,
  transportConformance,
} from "../../../adapters/testing/index.ts";

test("docs/conformance.md lists exactly the checks of the suites, in their order", () => {
  const checks: string[] = [];
  const runner = {
    describe: (_name: string, define: () => void) => define(),
    it: (name: string) => void checks.push(name),
  };
  const create = () => Promise.reject(new Error("No check runs here."));
  storageConformance(runner, "a storage", create);
  transportConformance(runner, "a transport", { create });
  modelConformance(runner, "a model", { create });
  mountConformance(runner, "a mount", { serve: create });
  const page = readFileSync("docs/conformance.md", "utf8");
  const listed = [...page.matchAll(/^\| (?!Check |-)(.*?) \|/gm)].map(([, name]) => name);
  expect(listed).toEqual(checks);
});
