/** The real browser of tests. */
import type { Browser, BrowserContext } from "playwright-core";
import { inject, onTestFinished, type TestContext } from "vitest";
import { askFor } from "../setup/on-demand.ts";
import { launchChromium } from "./launch-chromium.ts";

/** Skips the test, with the reason, if Chromium cannot be started. */
export async function chromium(skip: TestContext["skip"]): Promise<Browser> {
  const browser = await ofWorker().catch(skipping(skip));
  onTestFinished(async () => {
    for (const context of browser.contexts()) await context.close();
  });
  return browser;
}

/** A context of the test's own. */
export async function newContext(skip: TestContext["skip"]): Promise<BrowserContext> {
  const browser = await chromium(skip);
  const context = await browser.newContext();
  // It only ends what hangs. A wait may take long on a slow machine.
  context.setDefaultTimeout(60_000);
  keepIntercepting(context);
  return context;
}

/** The one browser of all files that this worker runs. It ends with the worker. */
let started: Promise<Browser> | undefined;

async function ofWorker(): Promise<Browser> {
  started ??= launch();
  const browser = await started;
  if (browser.isConnected()) return browser;
  // It crashed in an earlier test, which failed.
  started = launch();
  return started;
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
