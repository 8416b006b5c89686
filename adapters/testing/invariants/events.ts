import type { Event, EventType, Message } from "../../entry.ts";
import type { Finding, World } from "../world/types.ts";
import { eventsIn, messagesIn, scopesOf, type WorldScope } from "./reads.ts";

/** How long a stream may take to send the whole log, in virtual time. */
const streamsWithinMs = 120_000;

/** The event that reports each outcome of a message. */
const eventOf: Readonly<Partial<Record<Message["status"], EventType>>> = {
  received: "message.received",
  delivered: "message.sent",
  read: "message.sent",
  failed: "message.failed",
  expired: "message.failed",
  undelivered: "message.failed",
  canceled: "message.updated",
};

export async function everyEventOnce(world: World): Promise<Finding | undefined> {
  for (const scope of await scopesOf(world)) {
    const seen = new Set<string>();
    for (const event of await eventsIn(world, scope)) {
      const names: string[] = [event.id];
      if (isOncePerMessage(event)) names.push(`${event.type} of ${event.data.message_id}`);
      const twice = names.find((name) => seen.has(name));
      if (twice !== undefined) {
        return { description: `the log has ${twice} twice`, about: [event.id] };
      }
      for (const name of names) seen.add(name);
    }
  }
  return undefined;
}

type OncePerMessage = Event<"message.sent" | "message.failed" | "message.received">;

function isOncePerMessage(event: Event): event is OncePerMessage {
  return (
    event.type === "message.sent" ||
    event.type === "message.failed" ||
    event.type === "message.received"
  );
}

/**
 * The log has an event for the outcome of each message, and the last change of its status that the
 * log has is the latest. A stream that starts after the first event has every later event of the
 * log, in the same order.
 */
export async function noGapInTheEvents(world: World): Promise<Finding | undefined> {
  for (const scope of await scopesOf(world)) {
    const log = await eventsIn(world, scope);
    const found =
      (await findUnreported(world, scope, log)) ?? (await findUnstreamed(world, scope, log));
    if (found !== undefined) return found;
  }
  return undefined;
}

async function findUnreported(
  world: World,
  scope: WorldScope,
  log: readonly Event[],
): Promise<Finding | undefined> {
  const reported = new Set(
    log.map(({ type, data }) => ("message_id" in data ? `${type} ${data.message_id}` : "")),
  );
  const latest = new Map<string, string>(
    log.flatMap(({ type, data }) =>
      type === "message.updated" ? [[data.message_id, data.status] as const] : [],
    ),
  );
  for (const { id, status } of await messagesIn(world, scope)) {
    const type = eventOf[status];
    if (type !== undefined && !reported.has(`${type} ${id}`)) {
      return { description: `${id} is ${status}, but the log has no ${type} of it`, about: [id] };
    }
    const told = latest.get(id) ?? status;
    if (told !== status) {
      return { description: `${id} is ${status}, but its last event says ${told}`, about: [id] };
    }
  }
  return undefined;
}

async function findUnstreamed(
  world: World,
  { account_id, mode }: WorldScope,
  log: readonly Event[],
): Promise<Finding | undefined> {
  const [first, ...expected] = log;
  if (first === undefined) return undefined;
  const streamed: string[] = [];
  const read = world.run(
    async (engine) => {
      const { events } = engine.account(account_id, { mode });
      if (expected.length === 0) return;
      const stream = await events.stream({ last_event_id: first.id });
      for await (const { id } of stream) {
        streamed.push(id);
        if (streamed.length === expected.length) return;
      }
    },
    { withinMs: streamsWithinMs },
  );
  // A stream with a gap waits for more events until its time is up.
  await read.catch(() => undefined);
  const at = expected.findIndex(({ id }, i) => streamed[i] !== id);
  const missed = expected[at];
  if (missed === undefined) return undefined;
  const description = `a stream has ${streamed[at] ?? "nothing"} in the place of ${missed.id}`;
  return { description, about: [missed.id] };
}
