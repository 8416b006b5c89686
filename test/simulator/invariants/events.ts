import { type EventRow, eventsByPosition } from "../../../src/events/rows.ts";
import { messages, type MessageRow } from "../../../src/messages/rows.ts";
import type { MessageStatus } from "../../../src/index.ts";
import type { Breach, Invariant } from "../invariant.ts";
import { rankOf } from "../ranks.ts";
import { allOf } from "../rows.ts";
import type { World } from "../world.ts";

/** Reads the log as a consumer does: what comes after the position that it has. */
class Follower {
  readonly seen: EventRow[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  async read(): Promise<readonly EventRow[]> {
    const after = [this.seen.at(-1)?.position ?? 0];
    const range = {
      index: eventsByPosition,
      prefix: [],
      order: "ascending",
      after,
      limit: 10_000,
    } as const;
    const fresh = (await this.#world.ground.reader.range(
      range,
    )) as readonly object[] as readonly EventRow[];
    this.seen.push(...fresh);
    return fresh;
  }

  async everything(): Promise<readonly EventRow[]> {
    const range = {
      index: eventsByPosition,
      prefix: [],
      order: "ascending",
      limit: 100_000,
    } as const;
    return (await this.#world.ground.reader.range(
      range,
    )) as readonly object[] as readonly EventRow[];
  }
}

/** What the events of messages have in common. */
interface Told {
  readonly message_id: string;
  readonly status: MessageStatus;
  readonly previous_status: MessageStatus;
}

export const connectedEvents: Invariant = {
  name: "events tell each change once and in order",
  watch(world) {
    const follower = new Follower(world);
    const last = new Map<string, string>();
    const counts = new Map<string, number>();
    return {
      async step() {
        const breaches: Breach[] = [];
        for (const { type, data } of await follower.read()) {
          const { message_id, status, previous_status } = data as Told;
          counts.set(`${type} ${message_id}`, (counts.get(`${type} ${message_id}`) ?? 0) + 1);
          if (type !== "message.updated") continue;
          const before = last.get(message_id);
          if (
            before === undefined
              ? !["queued", "scheduled"].includes(previous_status)
              : before !== previous_status
          ) {
            breaches.push({
              about: [message_id],
              says: `${message_id} was ${before ?? "new"}, and an event says that it was ${previous_status}`,
            });
          }
          if (rankOf(previous_status) > rankOf(status)) {
            breaches.push({
              about: [message_id],
              says: `${message_id} went back from ${previous_status} to ${status}`,
            });
          }
          last.set(message_id, status);
        }
        return breaches;
      },
      async end() {
        const breaches: Breach[] = [];
        const all = await follower.everything();
        if (
          all.length !== follower.seen.length ||
          all.some(({ id }, i) => id !== follower.seen[i]?.id)
        ) {
          breaches.push({
            about: [],
            says: "a follower of the log missed events, or saw them in another order",
          });
        }
        const expect = (type: string, id: string, times: number): void => {
          const told = counts.get(`${type} ${id}`) ?? 0;
          if (told !== times) {
            breaches.push({ about: [id], says: `${told} events ${type} of ${id}, not ${times}` });
          }
        };
        for (const { id, direction, status, delivered_at } of allOf(world.ground, messages)) {
          if (direction === "inbound") expect("message.received", id, 1);
          else expect("message.sent", id, delivered_at === null ? 0 : 1);
          const latest = last.get(id);
          if (latest !== undefined && latest !== status) {
            breaches.push({
              about: [id],
              says: `${id} is ${status}, and the last event says ${latest}`,
            });
          }
        }
        const told = all.filter(({ type }) => type === "contact.created").length;
        const { made } = world.registry;
        if (told !== made.size) {
          breaches.push({ about: [], says: `${told} events contact.created for ${made.size}` });
        }
        return breaches;
      },
    };
  },
};

export const wholeTimeline: Invariant = {
  name: "the timeline has every change of status, in order",
  watch(world) {
    const follower = new Follower(world);
    return {
      async end() {
        const breaches: Breach[] = [];
        const told = new Map<string, string[]>();
        for (const { type, data } of await follower.everything()) {
          if (type !== "message.updated") continue;
          const { message_id, previous_status, status } = data as Told;
          const chain = told.get(message_id) ?? [previous_status];
          chain.push(status);
          told.set(message_id, chain);
        }
        const there = new Set<string>(allOf(world.ground, messages).map(({ id }) => id));
        for (const [id, chain] of told) {
          if (!there.has(id)) continue;
          const answer = await world.clients.ask((engine) => engine.messages.timeline(id));
          const entries = answer.kind === "done" ? answer.value.data : [];
          const changes = entries.filter((entry) => entry.type === "transition");
          const shown = changes.map(({ to }) => to);
          if (shown.join(" → ") !== chain.join(" → ")) {
            breaches.push({
              about: [id],
              says: `the timeline of ${id} shows ${shown.join(" → ")}, the events ${chain.join(" → ")}`,
            });
          }
        }
        return breaches;
      },
    };
  },
};

export const countedUsage: Invariant = {
  name: "usage counts every change of status",
  watch(world) {
    const follower = new Follower(world);
    /** What each message was first: the first event of it says so, or without one the row that was written. */
    const began = new Map<string, string>();
    return {
      commit(_engine, writes) {
        for (const write of writes) {
          if (write.collection !== messages || write.kind !== "insert") continue;
          const { id, status } = write.row as unknown as MessageRow;
          began.set(id, status);
        }
        return [];
      },
      async end() {
        const expected = new Map<string, number>();
        const count = (status: string): void =>
          void expected.set(status, (expected.get(status) ?? 0) + 1);
        const events = await follower.everything();
        for (const { type, data } of events) {
          if (type === "message.updated") count((data as Told).status);
        }
        for (const { type, data } of events.toReversed()) {
          const { message_id, previous_status } = data as Told;
          if (type === "message.updated") began.set(message_id, previous_status);
        }
        for (const status of began.values()) count(status);
        const answer = await world.clients.ask((engine) => engine.account().usage());
        const shown = new Map<string, number>();
        for (const { status, messages: times } of answer.kind === "done" ? answer.value.data : []) {
          shown.set(status, (shown.get(status) ?? 0) + times);
        }
        return [...new Set([...expected.keys(), ...shown.keys()])]
          .filter((status) => expected.get(status) !== shown.get(status))
          .map((status) => ({
            about: [],
            says: `usage counts ${shown.get(status) ?? 0} ${status}, events tell of ${expected.get(status) ?? 0}`,
          }));
      },
    };
  },
};
