/** The real browser of tests. */
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, inject, onTestFinished, type TestContext } from "vitest";
import { launchChromium } from "./launch-chromium.ts";
import { askFor } from "./on-demand.ts";

/** Skips the test, with the reason, if Chromium cannot be started. */
export async function chromium(skip: TestContext["skip"]): Promise<Browser> {
  const browser = await launch().catch(skipping(skip));
  onTestFinished(() => browser.close());
  return browser;
}

/** One browser for all tests of a file, with a context of its own for each test. */
export function sharedChromium(): (skip: TestContext["skip"]) => Promise<BrowserContext> {
  let started: Promise<Browser> | undefined;
  // A browser that did not start needs no end.
  afterAll(() => started?.then((browser) => browser.close()).catch(() => {}));
  return async (skip) => {
    started ??= launch();
    const browser = await started.catch(skipping(skip));
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    // It only ends what hangs. A wait may take long on a slow machine.
    context.setDefaultTimeout(120_000);
    keepIntercepting(context);
    return context;
  };
}

/**
 * A request that begins while Chromium ends to intercept requests may never be answered. So it goes
 * on until the context closes, whatever routes a test removes. It begins with the first route of a
 * test: each request that is intercepted costs a round trip.
 */
function keepIntercepting(context: BrowserContext): void {
  const routeAll = context.route.bind(context);
  let kept: Promise<unknown> | undefined;
  const keep = () => (kept ??= routeAll("http://always.invalid/", (route) => route.abort()));
  context.route = async (...route) => {
    await keep();
    return routeAll(...route);
  };
  context.on("page", (page) => {
    const routePage = page.route.bind(page);
    page.route = async (...route) => {
      await keep();
      return routePage(...route);
    };
  });
}

const launch = async (): Promise<Browser> => launchChromium(await askFor(inject("chromium")));

const skipping =
  (skip: TestContext["skip"]) =>
  (error: unknown): never =>
    skip(`Chromium cannot be started here: ${String(error).slice(0, 200)}`);
