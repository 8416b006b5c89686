/** A real browser, from npm packages only. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";

/** A started browser. `close` ends it and removes its files. */
export interface LaunchedBrowser {
  readonly browser: Browser;
  close(): Promise<void>;
}

export async function launchChromium(): Promise<LaunchedBrowser> {
  const folder = mkdtempSync(join(tmpdir(), "tidings-browser-"));
  const { TMPDIR } = process.env;
  // Chromium is unpacked into TMPDIR. Parallel runs must not see each other's half-unpacked files.
  process.env["TMPDIR"] = folder;
  const restore = (): void => {
    if (TMPDIR === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = TMPDIR;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { default: packed } = await import("@sparticuz/chromium");
    const browser = await chromium.launch({
      executablePath: await packed.executablePath(),
      // The package turns off what tests of origins are about.
      args: packed.args.filter((each) => each !== "--disable-web-security"),
      headless: true,
    });
    const close = async (): Promise<void> => {
      await browser.close();
      restore();
    };
    return { browser, close };
  } catch (error) {
    restore();
    throw error;
  }
}
