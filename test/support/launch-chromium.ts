/** A real browser, from npm packages only. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";

export async function launchChromium(): Promise<Browser> {
  const { default: packed } = await import("@sparticuz/chromium");
  unpacking ??= unpack(packed);
  return chromium.launch({
    executablePath: await unpacking,
    args: [...packed.args.filter((each) => !unwanted.test(each)), "--disable-gpu"],
    headless: true,
  });
}

/**
 * The package turns off what tests of origins are about. It also puts everything into one process,
 * which ends with its first closed context, and draws with an emulated graphics card: the page
 * then stands still for seconds while shaders compile.
 */
const unwanted =
  /^--(disable-web-security|single-process|in-process-gpu|use-gl|use-angle|ignore-gpu|enable-unsafe)/;

/** Unpacking takes longer than starting, so each process does it once. */
let unpacking: Promise<string> | undefined;

async function unpack(packed: { executablePath(): Promise<string> }): Promise<string> {
  // Parallel runs must not see each other's half-unpacked files.
  const folder = mkdtempSync(join(tmpdir(), "tidings-browser-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const { TMPDIR } = process.env;
  // Chromium is unpacked into TMPDIR.
  process.env["TMPDIR"] = folder;
  try {
    return await packed.executablePath();
  } finally {
    if (TMPDIR === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = TMPDIR;
  }
}
