import { eventsByPosition, type EventRow } from "../../../src/events/rows.ts";
import type { MessageStatus } from "../../../src/index.ts";
import { messages } from "../../../src/messages/rows.ts";
import type { Invariant, Violation } from "../invariant.ts";
import { allRows, insertedRows } from "../rows.ts";
import { fallsBack } from "../settings.ts";
import type { World } from "../world.ts";
import { statusRank } from "./status.ts";

/** Reads the event log as a consumer does: always from the last position that it has. */
class LogReader {
  readonly seen: EventRow[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** The events since the last call. */
  async next(): Promise<readonly EventRow[]> {
    const after = [this.seen.at(-1)?.position ?? 0];
    const range = {
      index: eventsByPosition,
      prefix: [],
      order: "ascending",
      after,
      limit: 10_000,
    } as const;
    const fresh = (await this.#world.database.reader.range(
      range,
    )) as readonly object[] as readonly EventRow[];
    this.seen.push(...fresh);
    return fresh;
  }

  async all(): Promise<readonly EventRow[]> {
    const range = {
      index: eventsByPosition,
      prefix: [],
      order: "ascending",
      limit: 100_000,
    } as const;
    return (await this.#world.database.reader.range(
      range,
    )) as readonly object[] as readonly EventRow[];
  }
}

/** The payload of an event about a message's status. */
interface StatusChange {
  readonly message_id: string;
  readonly status: MessageStatus;
  readonly previous_status: MessageStatus;
}

export const messageEventsInOrder: Invariant = {
  name: "Events report each change of a message's status once and in order.",
  check(world) {
    const log = new LogReader(world);
    const last = new Map<string, string>();
    const counts = new Map<string, number>();
    return {
      async step() {
        const violations: Violation[] = [];
        for (const { type, data } of await log.next()) {
          const { message_id, status, previous_status } = data as StatusChange;
          counts.set(`${type} ${message_id}`, (counts.get(`${type} ${message_id}`) ?? 0) + 1);
          if (type !== "message.updated") continue;
          const before = last.get(message_id);
          if (
            before === undefined
              ? !["queued", "scheduled"].includes(previous_status)
              : before !== previous_status
          ) {
            violations.push({
              about: [message_id],
              description: `${message_id} was ${before ?? "new"}, but the next event gives ${previous_status} as its previous status`,
            });
          }
          if (statusRank(previous_status) > statusRank(status) && !fallsBack(world.settings)) {
            violations.push({
              about: [message_id],
              description: `${message_id} went back from ${previous_status} to ${status}`,
            });
          }
          last.set(message_id, status);
        }
        return violations;
      },
      async end() {
        const violations: Violation[] = [];
        const all = await log.all();
        if (all.length !== log.seen.length || all.some(({ id }, i) => id !== log.seen[i]?.id)) {
          violations.push({
            about: [],
            description: "a reader of the event log missed events, or got them in another order",
          });
        }
        const expect = (type: string, id: string, times: number): void => {
          const found = counts.get(`${type} ${id}`) ?? 0;
          if (found !== times) {
            violations.push({
              about: [id],
              description: `${id} has ${found} events ${type} instead of ${times}`,
            });
          }
        };
        for (const { id, direction, status, delivered_at } of allRows(world.database, messages)) {
          if (direction === "inbound") expect("message.received", id, 1);
          else expect("message.sent", id, delivered_at === null ? 0 : 1);
          const latest = last.get(id);
          if (latest !== undefined && latest !== status) {
            violations.push({
              about: [id],
              description: `${id} is ${status}, but its last event says ${latest}`,
            });
          }
        }
        const found = all.filter(({ type }) => type === "contact.created").length;
        const expected = world.history.created.size;
        if (found !== expected) {
          violations.push({
            about: [],
            description: `there are ${found} events contact.created for ${expected} contacts`,
          });
        }
        return violations;
      },
    };
  },
};

export const timelineComplete: Invariant = {
  name: "A message's timeline has every change of its status, in order.",
  check(world) {
    const log = new LogReader(world);
    return {
      async end() {
        const violations: Violation[] = [];
        const expected = new Map<string, string[]>();
        for (const { type, data } of await log.all()) {
          if (type !== "message.updated") continue;
          const { message_id, previous_status, status } = data as StatusChange;
          const chain = expected.get(message_id) ?? [previous_status];
          chain.push(status);
          expected.set(message_id, chain);
        }
        const existing = new Set<string>(allRows(world.database, messages).map(({ id }) => id));
        for (const [id, chain] of expected) {
          if (!existing.has(id)) continue;
          const answer = await world.clients.ask((engine) => engine.messages.timeline(id));
          const entries = answer.kind === "done" ? answer.value.data : [];
          const changes = entries.filter((entry) => entry.type === "transition");
          const shown = changes.map(({ to }) => to);
          if (shown.join(" → ") !== chain.join(" → ")) {
            violations.push({
              about: [id],
              description: `the timeline of ${id} shows ${shown.join(" → ")}, but its events ${chain.join(" → ")}`,
            });
          }
        }
        return violations;
      },
    };
  },
};

export const usageCounted: Invariant = {
  name: "Usage counts every status that a message has had.",
  check(world) {
    const log = new LogReader(world);
    /** A message's first status, according to its first event, or to the inserted row. */
    const first = new Map<string, string>();
    return {
      commit(_engine, writes) {
        for (const { id, status } of insertedRows(writes, messages)) first.set(id, status);
        return [];
      },
      async end() {
        const expected = new Map<string, number>();
        const count = (status: string): void =>
          void expected.set(status, (expected.get(status) ?? 0) + 1);
        const events = await log.all();
        for (const { type, data } of events) {
          if (type === "message.updated") count((data as StatusChange).status);
        }
        for (const { type, data } of events.toReversed()) {
          const { message_id, previous_status } = data as StatusChange;
          if (type === "message.updated") first.set(message_id, previous_status);
        }
        for (const status of first.values()) count(status);
        const answer = await world.clients.ask((engine) => engine.account().usage());
        const shown = new Map<string, number>();
        for (const { status, messages: times } of answer.kind === "done" ? answer.value.data : []) {
          shown.set(status, (shown.get(status) ?? 0) + times);
        }
        return [...new Set([...expected.keys(), ...shown.keys()])]
          .filter((status) => expected.get(status) !== shown.get(status))
          .map((status) => ({
            about: [],
            description: `usage counts ${shown.get(status) ?? 0} messages as ${status}, but there were ${expected.get(status) ?? 0}`,
          }));
      },
    };
  },
};
