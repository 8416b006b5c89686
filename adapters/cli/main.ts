#!/usr/bin/env node
/** The command `tidings`. Each command is in a file of its own, which is loaded when it is run. */
import { nearestName } from "../../src/kernel/index.ts";
import { version } from "./about.ts";
import type { Command } from "./command.ts";
import { reportFailure, UsageError } from "./failures.ts";
import { interruption } from "./interruption.ts";
import { bold, note, print, table } from "./terminal.ts";

interface Entry {
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

const commands = new Map(
  Object.entries<Entry>({
    dev: {
      summary: "Serve the API and the pages on a SQLite file",
      load: async () => (await import("./dev/command.ts")).dev,
    },
    keys: {
      summary: "Create, list and revoke API keys",
      load: async () => (await import("./keys.ts")).keys,
    },
    events: {
      summary: "Print events as they happen",
      load: async () => (await import("./events/command.ts")).events,
    },
    webhooks: {
      summary: "Forward events, signed, to a local address",
      load: async () => (await import("./webhooks/command.ts")).webhooks,
    },
    migrate: {
      summary: "Migrate a database, or print the SQL that does",
      load: async () => (await import("./migrate.ts")).migrate,
    },
    doctor: {
      summary: "Check this machine and a database, and say what to do",
      load: async () => (await import("./doctor/command.ts")).doctor,
    },
  }),
);

function usage(): string {
  const list = table([...commands].map(([name, { summary }]) => [name, summary]));
  return [
    `${bold("Usage:")} tidings COMMAND [options]`,
    "",
    ...list.map((line) => `  ${line}`),
    "",
    "Start here:      tidings dev --seed",
    "More about one:  tidings COMMAND --help",
  ].join("\n");
}

const isHelp = (arg: string | undefined): boolean => arg === "--help" || arg === "-h";

async function run([name, ...args]: readonly string[], stopped: AbortSignal): Promise<void> {
  if (name === undefined || isHelp(name) || name === "help") return print(usage());
  if (name === "--version" || name === "-v") return print(version());
  const entry = commands.get(name);
  if (entry === undefined) throw unknownCommand(name);
  const command = await entry.load();
  if (args.some(isHelp)) return print(command.usage);
  await command.run(args, stopped);
}

function unknownCommand(name: string): UsageError {
  const nearest = nearestName(name, [...commands.keys()]);
  const question = nearest === undefined ? "" : ` Did you mean "tidings ${nearest}"?`;
  return new UsageError(`There is no command "${name}".${question}`, usage());
}

/** Node 22 warns that `node:sqlite` is experimental. Users of a command cannot act on it. */
function hideSqliteWarning(): void {
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => {
    if (name !== "ExperimentalWarning" || !message.includes("SQLite")) note(`${name}: ${message}`);
  });
}

hideSqliteWarning();
try {
  await run(process.argv.slice(2), interruption());
} catch (error) {
  process.exitCode = reportFailure(error);
}
