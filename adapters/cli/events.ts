import type { AccountHandle, Event, EventType } from "../entry.ts";
import { adviceForType, eventTypes } from "../../src/events/index.ts";
import { parseArguments, subcommand } from "./arguments.ts";
import type { Command } from "./command.ts";
import { chooseDatabase, databaseOptions, databaseUsage } from "./database/choose.ts";
import { accountOptions, accountUsage, withAccount } from "./engine.ts";
import { summaryOf } from "./event-summary.ts";
import { UsageError } from "./failures.ts";
import { bold, dim, labeledList, note, print, red, timeOfDay, yellow } from "./terminal.ts";

export const typeUsage: readonly string[] = [
  "  --type TYPE       only events of this type; repeat it for several",
];
export const typeOptions = { type: { type: "string", multiple: true } } as const;

const usage = [
  `${bold("Usage:")} tidings events tail [--type TYPE ...] [--json]`,
  "",
  "Prints the events of an account as they are committed, by any process on the database.",
  "",
  ...typeUsage,
  "  --json            one event per line as JSON, as webhooks get it",
  ...accountUsage,
  ...databaseUsage,
  "",
  ...labeledList("Types:", eventTypes),
].join("\n");

/**
 * Reads the values of `--type`.
 * @throws UsageError when there is no such type
 */
export function typesOf(given: readonly string[] | undefined, usage: string): EventType[] {
  return (given ?? []).map((name) => {
    const type = eventTypes.find((each) => each === name);
    if (type !== undefined) return type;
    const advice = adviceForType(name, eventTypes).replaceAll('"', "");
    throw new UsageError(`There is no event type "${name}"${advice || "."}`, usage);
  });
}

/**
 * Opens a stream of new events. It ends when `signal` aborts. If the engine ends it before, it is
 * opened again after its last event.
 */
export async function openStream(
  { events }: AccountHandle,
  types: readonly EventType[],
  signal: AbortSignal,
): Promise<AsyncIterable<Event>> {
  const filter = types.length === 0 ? {} : { types };
  const first = await events.stream(filter, { signal });
  return goOn(first, async (last_event_id) =>
    signal.aborted ? undefined : events.stream({ ...filter, last_event_id }, { signal }),
  );
}

async function* goOn(
  first: AsyncIterable<Event>,
  openAfter: (id: string) => Promise<AsyncIterable<Event> | undefined>,
): AsyncGenerator<Event, void> {
  let stream: AsyncIterable<Event> | undefined = first;
  while (stream !== undefined) {
    let last: string | undefined;
    for await (const event of stream) {
      yield event;
      last = event.id;
    }
    stream = last === undefined ? undefined : await openAfter(last);
  }
}

const width = Math.max(...eventTypes.map((type) => type.length));

/** Returns an event as one line: when, what, and about whom. */
export function eventLine(event: Event): string {
  const { type, created_at } = event;
  const name = type.padEnd(width);
  return `${dim(timeOfDay(new Date(created_at)))}  ${toned(type, name)}  ${summaryOf(event)}`;
}

function toned(type: EventType, name: string): string {
  if (type === "message.failed" || type === "webhook.disabled") return red(name);
  return type === "conversation.handoff" || type === "contact.opted_out" ? yellow(name) : name;
}

async function run(args: readonly string[], stopped: AbortSignal): Promise<void> {
  const [, rest] = subcommand(usage, args, ["tail"]);
  const { values } = parseArguments(usage, rest, {
    ...databaseOptions,
    ...accountOptions,
    ...typeOptions,
    json: { type: "boolean", default: false },
  });
  const types = typesOf(values.type, usage);
  const database = chooseDatabase(values, { usage, mayCreate: false });
  await withAccount(database, values, usage, async (account) => {
    const stream = await openStream(account, types, stopped);
    note(dim(`Waiting for new events in ${database.name}. Press Ctrl+C to stop.`));
    for await (const event of stream) {
      print(values.json ? JSON.stringify(event) : eventLine(event));
    }
  });
}

export const events: Command = { usage, run };
