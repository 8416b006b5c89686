/** A real browser, from npm packages only. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium as playwright } from "playwright-core";
import { afterAll, onTestFinished, type TestContext, vi } from "vitest";

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
  const folder = mkdtempSync(join(tmpdir(), "tidings-browser-"));
  // Chromium is unpacked into TMPDIR. Parallel runs must not see each other's half-unpacked files.
  vi.stubEnv("TMPDIR", folder);
  const { default: packed } = await import("@sparticuz/chromium");
  const browser = await playwright.launch({
    executablePath: await packed.executablePath(),
    // The package turns off what tests of origins are about.
    args: packed.args.filter((each) => each !== "--disable-web-security"),
    headless: true,
  });
  onEnd(async () => {
    await browser.close();
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });
  return browser;
}
