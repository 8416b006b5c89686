/** The real browser of tests. */
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, onTestFinished, type TestContext } from "vitest";
import { launchChromium } from "./launch-chromium.ts";

/** Skips the test, with the reason, if Chromium cannot be started. */
export async function chromium(skip: TestContext["skip"]): Promise<Browser> {
  const browser = await launchChromium().catch(skipping(skip));
  onTestFinished(() => browser.close());
  return browser;
}

/**
 * One browser for all tests of a file. Each test opens a page of its own. This Chromium ends with
 * its first closed context, so the context is shared, too.
 */
export function sharedChromium(): (skip: TestContext["skip"]) => Promise<BrowserContext> {
  let started: Promise<BrowserContext> | undefined;
  // A browser that did not start needs no end.
  afterAll(() => started?.then((context) => context.browser()?.close()).catch(() => {}));
  return (skip) => {
    started ??= launchChromium().then(async (browser) => {
      const context = await browser.newContext();
      // It only ends what hangs. A wait may take long on a slow machine.
      context.setDefaultTimeout(120_000);
      return context;
    });
    return started.catch(skipping(skip));
  };
}

const skipping =
  (skip: TestContext["skip"]) =>
  (error: unknown): never =>
    skip(`Chromium cannot be started here: ${String(error).slice(0, 200)}`);
