/** The real browser of tests. */
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, onTestFinished, type TestContext } from "vitest";
import { launchChromium } from "./launch-chromium.ts";

/** Skips the test, with the reason, if Chromium cannot be started. */
export function chromium(skip: TestContext["skip"]): Promise<Browser> {
  return launch(onTestFinished).catch(skipping(skip));
}

/**
 * One browser for all tests of a file. Each test opens a page of its own. This Chromium ends with
 * its first closed context, so the context is shared, too.
 */
export function sharedChromium(): (skip: TestContext["skip"]) => Promise<BrowserContext> {
  let context: Promise<BrowserContext> | undefined;
  let close: (() => Promise<void>) | undefined;
  afterAll(() => close?.());
  return (skip) => {
    context ??= launch((closing) => (close = closing)).then((browser) => browser.newContext());
    return context.catch(skipping(skip));
  };
}

const skipping =
  (skip: TestContext["skip"]) =>
  (error: unknown): never =>
    skip(`Chromium cannot be started here: ${String(error).slice(0, 200)}`);

async function launch(onEnd: (close: () => Promise<void>) => void): Promise<Browser> {
  const { browser, close } = await launchChromium();
  onEnd(close);
  return browser;
}
