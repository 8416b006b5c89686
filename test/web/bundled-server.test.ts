/** A server whose bundle contains the package's code, and not the files of its pages. */
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";

const program = `
import { MessagingEngine } from "./index.js";
import { inboxHandler } from "./inbox.js";
import { memory } from "./memory.js";
import { sandbox } from "./sandbox.js";

const engine = new MessagingEngine({ storage: memory(), transports: [sandbox()] });
try {
  inboxHandler(engine);
} catch (error) {
  console.log(error.message);
}
`;

it("gets an error that tells how to bundle it", async () => {
  // Inside the project, so that imports resolve. Hidden, so that other tools skip it.
  const folder = await mkdtemp(resolve("test/web/.bundled-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await Promise.all(globSync("dist/*.js").map((file) => cp(file, join(folder, basename(file)))));
  const server = join(folder, "server.mjs");
  await writeFile(server, program);
  const { stdout } = await promisify(execFile)(process.execPath, [server]);
  expect(stdout).toMatch(
    /^inboxHandler: the page is not in file:.* leave tidings out of the bundle/,
  );
});
