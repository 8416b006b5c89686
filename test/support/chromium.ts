/** A real browser, from npm packages only. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium as playwright } from "playwright-core";
import { onTestFinished, type TestContext, vi } from "vitest";

/** Skips the test, with the reason, if Chromium cannot be started. */
export function chromium(skip: TestContext["skip"]): Promise<Browser> {
  return launch().catch((error: unknown) =>
    skip(`Chromium cannot be started here: ${String(error).slice(0, 200)}`),
  );
}

async function launch(): Promise<Browser> {
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
  onTestFinished(async () => {
    await browser.close();
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });
  return browser;
}
