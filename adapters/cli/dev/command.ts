import { parseArguments } from "../arguments.ts";
import type { Command } from "../command.ts";
import { chooseDatabase } from "../database/choose.ts";
import { defaultFile } from "../database/sqlite.ts";
import { UsageError } from "../failures.ts";
import { aborted } from "../interruption.ts";
import { bold, note } from "../terminal.ts";
import { announce } from "./announce.ts";
import { openBrowser } from "./browser.ts";
import { listen, maxPort } from "./listen.ts";
import { DevServer } from "./server.ts";

const defaultPort = 4010;

const usage = [
  `${bold("Usage:")} tidings dev [--port PORT] [--file PATH] [--seed] [--open]`,
  "",
  "Serves the API, the pages and a demo shop on a SQLite file, with a simulated carrier.",
  "It sends no real SMS. It is for this machine alone: nothing else can connect.",
  "",
  `  --port PORT       the port (default: ${defaultPort}; 0 for a free one)`,
  `  --file PATH       the SQLite file, created if it does not exist (default: ${defaultFile})`,
  "  --seed            fill a new file with a small shop and some days of its conversations",
  "  --open            open the first page in the browser",
].join("\n");

async function run(args: readonly string[], stopped: AbortSignal): Promise<void> {
  const { values } = parseArguments(usage, args, {
    port: { type: "string", default: String(defaultPort) },
    file: { type: "string", default: defaultFile },
    seed: { type: "boolean", default: false },
    open: { type: "boolean", default: false },
  });
  const { file, seed, open } = values;
  const port = portOf(values.port);
  const database = chooseDatabase({ file }, { usage, mayCreate: true });
  // Takes the port first, so that a port in use leaves no new file behind.
  const listener = await listen(port);
  try {
    await using server = await DevServer.start({ database, file, listener, seed, stopped });
    if (stopped.aborted) return;
    announce(server);
    if (open) openBrowser(server.pages[0]?.url ?? server.url);
    await aborted(stopped);
    note("", "Stopping ...");
  } finally {
    listener.close();
    listener.disconnect();
  }
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= maxPort) return port;
  throw new UsageError(`--port needs a number from 0 to ${maxPort}, got "${text}".`, usage);
}

export const dev: Command = { usage, run };
