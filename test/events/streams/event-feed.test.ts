import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { eventsByPosition, eventsOfAccount, type EventRow } from "../../../src/events/rows.ts";
import type { EventType } from "../../../src/events/types.ts";
import type { Scope } from "../../../src/kernel/ids.ts";
import type { Range } from "../../../src/ports/storage.ts";
import { over } from "../../support/over.ts";
import { runsOn } from "../../support/runs.ts";
import { storages } from "../../support/storage/storages.ts";
import { busy, commit, event, opened, quiet, streamProcess, type StreamProcess } from "../log.ts";

const types = ["contact.created", "contact.updated"] as const;
const scopes = [quiet, busy];
const conversations = ["conv_1", "conv_2", null];

interface Commit {
  readonly do: "commit" | "commit elsewhere";
  readonly scope: Scope;
  readonly type: EventType;
  readonly conversation: string | null;
  readonly count: number;
}

type Step =
  | Commit
  | {
      readonly do: "open";
      readonly scope: Scope;
      readonly type: EventType | undefined;
      readonly conversation: string | undefined;
      /** The place in the account's log of the event that the stream begins after. */
      readonly after: number | undefined;
    }
  | { readonly do: "pause" | "resume" | "leave"; readonly client: number }
  | { readonly do: "wait"; readonly ms: number };

const count = fc.constantFrom(1, 3, 150, 1_200);
const client = fc.nat();
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constantFrom("commit" as const, "commit elsewhere" as const),
    scope: fc.constantFrom(...scopes),
    type: fc.constantFrom(...types),
    conversation: fc.constantFrom(...conversations),
    count,
  }),
  fc.record({
    do: fc.constant("open" as const),
    scope: fc.constantFrom(...scopes),
    type: fc.constantFrom(undefined, ...types),
    conversation: fc.constantFrom(undefined, "conv_1", "conv_2"),
    after: fc.option(fc.nat(), { nil: undefined }),
  }),
  fc.record({
    do: fc.constantFrom("pause" as const, "resume" as const, "leave" as const),
    client,
  }),
  fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(0, 1_000, 20_000) }),
);

const many = { scope: quiet, type: types[0], conversation: "conv_1", count: 1_200 } as const;
const all = { do: "open", scope: quiet, type: undefined, conversation: undefined } as const;
/** More events than may wait, while the client takes none. */
const tooSlow: Step[] = [
  { ...all, after: undefined },
  { do: "commit", ...many, count: 1 },
  { do: "wait", ms: 0 },
  { do: "pause", client: 0 },
  { do: "commit", ...many },
  { do: "wait", ms: 1_000 },
  { do: "commit", ...many },
  { do: "resume", client: 0 },
  { do: "commit", ...many, count: 3 },
];
/** Events of a stream that has subscribed but not yet read the log once more. */
const caughtUpDuringCommits: Step[] = [
  { do: "commit", ...many, count: 150 },
  { ...all, after: 0 },
  ...Array.from({ length: 20 }, () => ({ do: "commit", ...many, count: 1 }) as const),
];

/** An event that is committed while the client takes a keep-alive. */
const committedDuringKeepAlive: Step[] = [
  { ...all, after: undefined },
  { do: "pause", client: 0 },
  { do: "wait", ms: 20_000 },
  { do: "commit", ...many, count: 1 },
];

/** The client of a stream. It takes an event only while it is not paused. */
class Client {
  readonly ids: string[] = [];
  readonly isOver: Promise<void>;
  readonly #left = new AbortController();
  #isPaused = false;
  #resumed = Promise.withResolvers<void>();

  constructor(process: StreamProcess, input: Parameters<StreamProcess["open"]>[0], scope = quiet) {
    const options = { scope, left: this.#left.signal };
    this.isOver = process.open(input, options).then(async (stream) => {
      for await (const each of stream) {
        if (this.#isPaused) await this.#resumed.promise;
        if ("value" in each) this.ids.push(each.id);
      }
    });
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#resumed.resolve();
    this.#resumed = Promise.withResolvers<void>();
  }

  async leave(): Promise<void> {
    this.#left.abort();
    this.resume();
    await this.isOver;
  }
}

describe.each(storages)("the event streams of a process on $name", ({ name, open }) => {
  test("share one read per commit, and other accounts' commits cost them none", async () => {
    const port = await opened(open);
    const process = streamProcess(port);
    const { clock, streams, read } = process;
    await commit(
      port,
      Array.from({ length: 300 }, () => event(quiet, "message.sent")),
    );
    const wide = Array.from({ length: 30 }, () => new Client(process, {}));
    const rare = Array.from(
      { length: 30 },
      () => new Client(process, { types: ["message.failed"] }),
    );
    await clock.settle();
    read.length = 0;
    const own = event(quiet, "message.sent");
    streams.onWrites(await commit(port, [own]));
    await clock.settle();
    expect(wide.map(({ ids }) => ids)).toEqual(wide.map(() => [own.id]));
    expect(rare.flatMap(({ ids }) => ids)).toEqual([]);
    expect(read).toHaveLength(1);
    streams.onWrites(await commit(port, [event(busy, "message.sent")]));
    await clock.settle();
    expect(read).toHaveLength(1);
    await Promise.all([...wide, ...rare].map((client) => client.leave()));
    await clock.settle();
    expect(clock.nextWakeAt).toBeUndefined();
  });

  test("find other processes' commits in one read for all accounts", async () => {
    const port = await opened(open);
    const indexes: Range["index"][] = [];
    const reader = over(port.reader, {
      range(range) {
        indexes.push(range.index);
        return port.reader.range(range);
      },
    });
    const process = streamProcess(over(port, { reader }));
    const accounts = Array.from({ length: 20 }, (_, i) => ({
      ...quiet,
      account_id: `acct_${i}` as const,
    }));
    const clients = accounts.map((scope) => new Client(process, {}, scope));
    await process.clock.settle();
    const changed = event(accounts[7] ?? expect.fail(), "message.sent");
    await commit(port, [changed, event(busy, "message.sent")]);
    indexes.length = 0;
    process.streams.wake();
    await process.clock.settle();
    expect(clients.map(({ ids }) => ids.length)).toEqual(accounts.map((_, i) => (i === 7 ? 1 : 0)));
    expect(indexes).toEqual([eventsByPosition, eventsOfAccount]);
  });

  test("get another process's events soon after a failed search for them", async () => {
    const port = await opened(open);
    let fails = 0;
    const reader = over(port.reader, {
      async range(range) {
        if (fails > 0 && range.index === eventsByPosition && range.order === "descending") {
          fails--;
          throw new Error("the storage is away");
        }
        return port.reader.range(range);
      },
    });
    const process = streamProcess(over(port, { reader }));
    const client = new Client(process, {});
    await process.clock.settle();
    const own = event(quiet, "message.sent");
    // So many that the search reads the newest position.
    await commit(port, [own, ...Array.from({ length: 1_200 }, () => event(busy, "message.sent"))]);
    fails = 1;
    process.streams.wake();
    await process.clock.advance(5_000);
    expect([fails, client.ids]).toEqual([0, [own.id]]);
    await client.leave();
  });

  test("leave nothing running when they catch up while the engine stops", async () => {
    const port = await opened(open);
    const [first, second] = [event(quiet, "message.sent"), event(quiet, "message.sent")];
    await commit(port, [first, second]);
    const reached = Promise.withResolvers<void>();
    const goesOn = Promise.withResolvers<void>();
    const reader = over(port.reader, {
      async range(range) {
        const rows = await port.reader.range(range);
        if (range.index === eventsOfAccount) {
          reached.resolve();
          await goesOn.promise;
        }
        return rows;
      },
    });
    const process = streamProcess(over(port, { reader }));
    const stream = await process.open({ last_event_id: first.id });
    const next = stream[Symbol.asyncIterator]().next();
    await reached.promise;
    process.streams.close();
    goesOn.resolve();
    // The client has an event and asks for no more.
    expect(await next).toMatchObject({ value: { id: second.id } });
    await process.clock.settle();
    expect(process.clock.nextWakeAt).toBeUndefined();
  });

  test("have every matching event once and in order, for all interleavings", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 24 }), async (steps) => {
        const port = await opened(open);
        const process = streamProcess(port);
        const { clock, streams } = process;
        const log: EventRow[] = [];
        const clients: { readonly client: Client; readonly wanted: () => string[] }[] = [];
        const write = async (each: Commit) => {
          const rows = Array.from({ length: each.count }, () =>
            event(each.scope, each.type, each.conversation),
          );
          log.push(...rows);
          return commit(port, rows);
        };
        for (const each of steps) {
          if (each.do === "commit") streams.onWrites(await write(each));
          else if (each.do === "commit elsewhere") {
            await write(each);
            streams.wake();
          } else if (each.do === "open") {
            const { scope, type, conversation, after } = each;
            const own = log.filter(({ account_id }) => account_id === scope.account_id);
            const last = after === undefined ? own.at(-1) : own[after % (own.length || 1)];
            const isMatch = (row: EventRow): boolean =>
              row.account_id === scope.account_id &&
              (type === undefined || row.type === type) &&
              (conversation === undefined || row.conversation_id === conversation);
            const from = last === undefined ? 0 : log.indexOf(last) + 1;
            const input = {
              ...(type === undefined ? {} : { types: [type] }),
              conversation_id: conversation,
              last_event_id: after === undefined ? undefined : last?.id,
            };
            const client = new Client(process, input, scope);
            // The place of a stream without `last_event_id` is certain when it is open.
            if (input.last_event_id === undefined) await clock.settle();
            clients.push({
              client,
              wanted: () =>
                log
                  .slice(from)
                  .filter(isMatch)
                  .map(({ id }) => id),
            });
          } else if (each.do === "wait") {
            await clock.advance(each.ms);
          } else if ("client" in each) {
            const chosen = clients[each.client % (clients.length || 1)];
            if (chosen === undefined) continue;
            if (each.do === "leave") {
              await chosen.client.leave();
              clients.splice(clients.indexOf(chosen), 1);
            } else chosen.client[each.do]();
          }
        }
        for (const { client } of clients) client.resume();
        await clock.advance(20_000);
        for (const { client, wanted } of clients) expect(client.ids).toEqual(wanted());
        await Promise.all(clients.map(({ client }) => client.leave()));
      }),
      {
        numRuns: runsOn(name, { memory: 40, SQLite: 40, PostgreSQL: 8 }),
        examples: [[tooSlow], [caughtUpDuringCommits], [committedDuringKeepAlive]],
      },
    );
  });
});
