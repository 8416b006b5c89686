/** One unpacked Chromium for a whole test run. It is unpacked when the first test needs it. */
import type { TestProject } from "vitest/node";
import { unpackChromium } from "../browser/launch-chromium.ts";
import { onDemand } from "./on-demand.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of an HTTP endpoint that returns the path of Chromium's program. */
    readonly chromium: string;
  }
}

export async function setup(project: TestProject): Promise<() => void> {
  const program = await onDemand(unpackChromium);
  project.provide("chromium", program.url);
  return program.close;
}
