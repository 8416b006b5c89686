import { eventTypes } from "../../../src/events/index.ts";
import { parseArguments, subcommand } from "../arguments.ts";
import type { Command } from "../command.ts";
import { accountOptions, accountUsage, withAccount } from "../engine.ts";
import { bold, dim, labeledList, note, print } from "../terminal.ts";
import { eventLine } from "./line.ts";
import { openStream, typeOptions, typesOf, typeUsage } from "./stream.ts";

const usage = [
  `${bold("Usage:")} tidings events tail [--type TYPE ...] [--json]`,
  "",
  "Prints the events of an account as they are committed, by any process on the database.",
  "",
  ...typeUsage,
  "  --json            one event per line as JSON, as webhooks get it",
  ...accountUsage,
  "",
  ...labeledList("Types:", eventTypes),
].join("\n");

async function run(args: readonly string[], stopped: AbortSignal): Promise<void> {
  const [, rest] = subcommand(usage, args, ["tail"]);
  const { values } = parseArguments(usage, rest, {
    ...accountOptions,
    ...typeOptions,
    json: { type: "boolean", default: false },
  });
  const types = typesOf(values.type, usage);
  await withAccount(values, usage, async (account, database) => {
    const stream = await openStream(account, types, stopped);
    note(dim(`Waiting for new events in ${database.name}. Press Ctrl+C to stop.`));
    for await (const event of stream) {
      print(values.json ? JSON.stringify(event) : eventLine(event));
    }
  });
}

export const events: Command = { usage, run };
