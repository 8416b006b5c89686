import { spawn } from "node:child_process";
import { dim, note } from "../terminal.ts";

const openers: { readonly [platform in NodeJS.Platform]?: readonly [string, ...string[]] } = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** Opens a page in the browser of this machine. If that is not possible, says so. */
export function openBrowser(url: string): void {
  const [program, ...args] = openers[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...args, url], { stdio: "ignore", detached: true });
  child.on("error", () => note(dim(`No browser could be opened. Open ${url} yourself.`)));
  child.unref();
}
