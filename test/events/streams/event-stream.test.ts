import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../../src/engine.ts";
import { eventsOfAccount, type EventRow } from "../../../src/events/rows.ts";
import type { StreamQuery } from "../../../src/events/streams/event-stream.ts";
import type { Scope } from "../../../src/kernel/ids.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { call } from "../../api/call.ts";
import { stopped, world } from "../../support/engines/world.ts";
import { eventually } from "../../support/eventually.ts";
import { over } from "../../support/over.ts";
import { lightStorages, storages } from "../../support/storage/storages.ts";
import { busy, commit, event, opened, quiet, streamProcess, type StreamProcess } from "../log.ts";

interface Followed extends Omit<StreamProcess, "open"> {
  /** The stream's event ids, in order. */
  readonly told: AsyncIterator<string | undefined>;
}

async function follow(port: StoragePort, input: StreamQuery): Promise<Followed> {
  const process = streamProcess(port);
  const stream = await process.open(input);
  async function* ids(): AsyncGenerator<string | undefined> {
    for await (const event of stream) yield "value" in event ? event.id : undefined;
  }
  return { ...process, told: ids() };
}

describe.each(lightStorages)("a stream of events on $name", ({ open }) => {
  test("of a quiet account reads only that account's events", async () => {
    const port = await opened(open);
    const own = [
      event(quiet, "message.sent"),
      event(quiet, "message.sent"),
      event(quiet, "message.sent"),
    ];
    const others = (): EventRow[] => Array.from({ length: 500 }, () => event(busy, "message.sent"));
    const sandbox: Scope = { ...quiet, mode: "sandbox" };
    for (const each of own) await commit(port, [...others(), each, event(sandbox, "message.sent")]);
    const { told, read } = await follow(port, { last_event_id: own[0]?.id ?? "" });
    expect((await told.next()).value).toBe(own[1]?.id);
    expect((await told.next()).value).toBe(own[2]?.id);
    const rows = read.flat();
    expect(rows.slice(0, 2).map(({ id }) => id)).toEqual(own.slice(1).map(({ id }) => id));
    // Live events begin after the newest event of the account, and after the newest of all.
    expect(rows).toHaveLength(4);
  });

  test("of a rare type skips other events, yields to the event loop, and never rereads them", async () => {
    const port = await opened(open);
    const first = event(quiet, "message.sent");
    const rare = [event(quiet, "message.failed"), event(quiet, "message.failed")];
    const common = (): EventRow[] =>
      Array.from({ length: 2_500 }, () => event(quiet, "message.updated"));
    const rest = common();
    await commit(port, [first, ...common(), ...rare.slice(0, 1), ...rest]);
    const { told, streams, read, yields } = await follow(port, {
      types: ["message.failed"],
      last_event_id: first.id,
    });
    expect((await told.next()).value).toBe(rare[0]?.id);
    expect(yields()).toBeGreaterThanOrEqual(2);

    const next = told.next();
    // The stream has caught up with the log.
    const last = rest.at(-1)?.id;
    await eventually(() => expect(read.flat().some(({ id }) => id === last)).toBe(true));
    await commit(port, [event(quiet, "message.updated"), ...rare.slice(1)]);
    const before = read.length;
    streams.wake();
    expect((await next).value).toBe(rare[1]?.id);
    expect(read.slice(before).flat().length).toBeLessThan(200);
  });

  test("without a start position yields only new events of its account and mode", async () => {
    const port = await opened(open);
    await commit(port, [event(quiet, "message.sent"), event(busy, "message.sent")]);
    const { told, streams } = await follow(port, {});
    const next = told.next();
    const fresh = event(quiet, "message.sent");
    await commit(port, [
      event(busy, "message.sent"),
      event({ ...quiet, mode: "sandbox" }, "message.sent"),
      fresh,
    ]);
    streams.wake();
    expect((await next).value).toBe(fresh.id);
  });

  test("yields each event once that is committed while it begins to follow the log", async () => {
    const port = await opened(open);
    const [start, later] = [event(quiet, "message.sent"), event(quiet, "message.failed")];
    await commit(port, [start]);
    const toCome = Array.from({ length: 4 }, () => event(quiet, "message.sent"));
    const ids = [...toCome, later].map(({ id }) => id);
    let wake = (): void => {};
    const reader = over(port.reader, {
      async range(range) {
        // One event overtakes each read of the log.
        const next = range.index === eventsOfAccount ? toCome.shift() : undefined;
        if (next !== undefined) {
          await commit(port, [next]);
          wake();
        }
        return port.reader.range(range);
      },
    });
    const { told, streams } = await follow(over(port, { reader }), { last_event_id: start.id });
    wake = () => streams.wake();
    const found: unknown[] = [];
    while (found.length < 4) found.push((await told.next()).value);
    await commit(port, [later]);
    wake();
    found.push((await told.next()).value);
    expect(found).toEqual(ids);
  });

  test("sends heartbeats while all events are filtered out", async () => {
    const port = await opened(open);
    const { told, streams, clock } = await follow(port, { types: ["message.failed"] });
    let signs = 0;
    void told.next().then(() => signs++);
    for (let seconds = 0; seconds < 14; seconds += 2) {
      await commit(port, [event(quiet, "message.updated")]);
      streams.wake();
      await clock.advance(2_000);
    }
    expect(signs).toBe(0);
    await clock.advanceUntil(() => signs === 1, 5_000);
  });

  test("sends heartbeats while it skips many events", async () => {
    const port = await opened(open);
    const [first, rare] = [event(quiet, "message.sent"), event(quiet, "message.failed")];
    const common = Array.from({ length: 3_500 }, () => event(quiet, "message.updated"));
    await commit(port, [first, ...common, rare]);
    let isSlow = false;
    const reader = over(port.reader, {
      async range(range) {
        if (isSlow) await clock.sleep(10_000);
        return port.reader.range(range);
      },
    });
    const { told, clock } = await follow(over(port, { reader }), {
      types: ["message.failed"],
      last_event_id: first.id,
    });
    isSlow = true;
    const ids: (string | undefined)[] = [];
    void (async () => {
      while (ids.at(-1) !== rare.id) ids.push((await told.next()).value as string | undefined);
    })();
    await clock.advanceUntil(() => ids.at(-1) === rare.id);
    expect(ids.slice(0, 2)).toEqual([undefined, undefined]);
  });

  test("cannot be resumed from another account's event", async () => {
    const port = await opened(open);
    const theirs = event(busy, "message.sent");
    await commit(port, [theirs]);
    await expect(follow(port, { last_event_id: theirs.id })).rejects.toMatchObject({
      code: "validation_failed",
    });
  });
});

/** An event of a stream over HTTP, without its framing. */
async function* overHttp(engine: MessagingEngine, path: string): AsyncGenerator<unknown, void> {
  const { secret } = await engine.apiKeys.create({ name: "test" });
  const { body } = await call(engine.api, { path, key: secret });
  if (typeof body !== "object" || body === null || body instanceof Uint8Array) expect.fail();
  for await (const chunk of body) {
    const [, data] = /^data: (.*)$/m.exec(chunk) ?? [];
    if (data !== undefined) yield JSON.parse(data);
  }
}

async function take<T>(count: number, items: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  if (count === 0) return taken;
  for await (const item of items) if (taken.push(item) === count) break;
  return taken;
}

describe.each(storages)("a stream in process on $name", ({ name, open }) => {
  test("has every event since it opened, as over HTTP, and resumes after any of them", async () => {
    const engine = world().engine(open().connect());
    await engine.contacts.create({ name: "before" });
    const stream = await engine.events.stream();
    const types = ["contact.updated"] as const;
    const rare = await engine.events.stream({ types });
    // More than one page of the storage.
    const created = await Promise.all(
      Array.from({ length: 60 }, (_, i) => engine.contacts.create({ name: `${i}` })),
    );
    for (const { id } of created.slice(0, 50)) await engine.contacts.update(id, { name: "new" });
    const all = await take(110, stream);
    expect(all.map(({ type }) => type)).toEqual([
      ...Array<string>(60).fill("contact.created"),
      ...Array<string>(50).fill("contact.updated"),
    ]);
    expect(await take(50, rare)).toEqual(all.slice(60));
    await fc.assert(
      fc.asyncProperty(fc.nat(108), async (last) => {
        const last_event_id = all[last]?.id ?? expect.fail();
        const rest = all.slice(last + 1);
        const resumed = await engine.events.stream({ last_event_id });
        expect(await take(rest.length, resumed)).toEqual(rest);
        const path = `/v1/events/stream?last_event_id=${last_event_id}`;
        expect(await take(rest.length, overHttp(engine, path))).toEqual(rest);
      }),
      { numRuns: name === "PostgreSQL" ? 2 : 8 },
    );
  });

  test("belongs to one account and mode", async () => {
    const engine = world().engine(open().connect());
    const live = await engine.account(undefined, { mode: "live" }).events.stream();
    await engine.contacts.create({ name: "sandbox" });
    const { id } = await engine
      .account(undefined, { mode: "live" })
      .contacts.create({ name: "live" });
    expect(await take(1, live)).toMatchObject([{ data: { contact: { id } } }]);
  });

  test.each(["its signal", "the engine"])("ends with %s, while waiting or unread", async (end) => {
    const { clock, engine: create } = world();
    const engine = create(open().connect());
    const over = new AbortController();
    const { signal } = over;
    const [waiting, unread] = [
      await engine.events.stream({}, { signal }),
      await engine.events.stream({}, { signal }),
    ];
    const first = await engine.contacts.create({ name: "first" });
    const got = take(2, waiting);
    await clock.settle();
    if (end === "its signal") over.abort();
    await (end === "its signal" ? clock.settle() : stopped(engine, clock));
    expect(await got).toMatchObject([{ data: { contact: { id: first.id } } }]);
    expect(await take(1, unread)).toEqual([]);
    await stopped(engine, clock);
    expect(clock.nextWakeAt).toBeUndefined();
  });
});

/** The storages that take statements of the host application into a transaction. */
const shared = storages.filter(({ name }) => name !== "memory");

test.each(shared)(
  "a stream on $name resumes after an event of a transaction of the host application",
  async ({ open }) => {
    const engine = world().engine(open().connect());
    await engine.contacts.create({ name: "before" });
    const last_event_id = await engine.transaction(async (tx) => {
      const event = await engine.sandbox.event({ type: "message.sent" }, { tx });
      return event.id;
    });
    const stream = await engine.events.stream({ last_event_id });
    const { id } = await engine.contacts.create({ name: "after" });
    expect(await take(1, stream)).toMatchObject([{ data: { contact: { id } } }]);
  },
);

test("a stream in process reads no further than its reader", async () => {
  const port = memory();
  let rows = 0;
  const reader = over(port.reader, {
    async range(range) {
      const found = await port.reader.range(range);
      if (range.index === eventsOfAccount) rows += found.length;
      return found;
    },
  });
  const engine = world().engine(over(port, { reader }));
  const { id } = await engine.contacts.create({ name: "Ann" });
  const last_event_id = (await engine.events.list()).data[0]?.id;
  for (let i = 0; i < 500; i++) await engine.contacts.update(id, { name: `${i}` });
  rows = 0;
  let read = 0;
  for await (const _ of await engine.events.stream({ last_event_id })) {
    read++;
    // One page of 100, and the row of each page that shows whether more follow.
    expect(rows).toBeLessThanOrEqual(read + 110);
    if (read === 500) break;
  }
});

test("a stream in process that cannot be opened is refused with the reason", async () => {
  const { events } = world().engine(memory());
  const refused = (input: object, options?: object): Promise<unknown> =>
    events.stream(input, options).catch((error: unknown) => error);
  const cases: readonly [Promise<unknown>, object][] = [
    [refused({ types: ["message.delivered"] }), { pointer: "/types/0" }],
    [refused({ types: [] }), { pointer: "/types", message: "must have at least 1 item, got 0" }],
    [refused({ type: "message.sent" }), { pointer: "/type" }],
    [refused({ last_event_id: "evt_gone" }), { pointer: "/last_event_id" }],
    [refused({}, { idempotencyKey: "k" }), { parameter: "idempotencyKey" }],
    [
      refused({}, { signal: "now" }),
      { parameter: "signal", message: expect.stringMatching(/AbortSignal, got /) as unknown },
    ],
    [refused({}, new AbortController().signal), { parameter: "options" }],
  ];
  for (const [thrown, place] of cases) {
    expect(await thrown).toMatchObject({ code: "validation_failed", errors: [{ ...place }] });
  }
});
