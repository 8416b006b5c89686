/** A real browser, from npm packages only. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { chromium, type Browser } from "playwright-core";

/** Starts the browser. `executablePath` is where it was unpacked. */
export async function launchChromium(executablePath: string): Promise<Browser> {
  const { default: packed } = await import("@sparticuz/chromium");
  return chromium.launch({
    executablePath,
    args: [...packed.args.filter((each) => !unwanted.test(each)), "--disable-gpu"],
    headless: true,
  });
}

/**
 * The package turns off what tests of origins are about. It also puts everything into one process,
 * which ends with its first closed context, and draws with an emulated graphics card: the page
 * then stands still for seconds while shaders compile. Without its zygote, Chromium would load its
 * program anew for each process of a page.
 */
const unwanted =
  /^--(disable-web-security|single-process|in-process-gpu|use-gl|use-angle|ignore-gpu|enable-unsafe|no-zygote)/;

const unpack =
  'import chromium from "@sparticuz/chromium"; console.log(await chromium.executablePath());';

/**
 * Unpacks the browser, and returns the path of its program. It takes longer than a start, and much
 * of a core. The package unpacks into TMPDIR, so this is done in a process with a TMPDIR of its own.
 */
export async function unpackChromium(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "tidings-browser-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "--eval", unpack],
    { cwd: import.meta.dirname, env: { ...process.env, TMPDIR: folder } },
  );
  return stdout.trim();
}
