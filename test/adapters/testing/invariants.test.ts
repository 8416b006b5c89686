/** Each law finds a bug that a storage plants: it loses or changes writes of the engine. */
import { expect, test } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import {
  invariants,
  scriptedCarrier,
  type World,
  world,
  type WorldOptions,
} from "../../../adapters/testing/index.ts";
import { TidingsError } from "../../../src/index.ts";
import type { Group, Row, StoragePort, Write } from "../../../src/ports/storage.ts";
import { over } from "../../support/over.ts";

const to = "+15005550101";
const url = "https://shop.example/hooks";

/** A storage that commits what `change` returns. */
function planted(change: (writes: readonly Write[]) => readonly Write[]): StoragePort<undefined> {
  const storage = memory();
  const group = (inner: Group): Group =>
    over(inner, { commit: (writes: readonly Write[]) => inner.commit(change(writes)) });
  return over(storage, { begin: (how) => group(storage.begin(how)) });
}

const isInsert = (name: string, { collection, kind }: Write): boolean =>
  collection.name === name && kind === "insert";

const isEvent = (type: string, write: Write): boolean =>
  isInsert("events", write) && "row" in write && write.row["type"] === type;

/** A storage that loses the events of a type. */
const without = (type: string): StoragePort<undefined> =>
  planted((writes) => writes.filter((write) => !isEvent(type, write)));

/** A world with a webhook, in which two messages went out. */
async function sent(
  storage: StoragePort<undefined> = memory(),
  options: Partial<WorldOptions<undefined>> = {},
): Promise<World> {
  const w = world({ storage, transports: [scriptedCarrier()], ...options });
  w.receiver.trust(await w.run((engine) => engine.webhooks.create({ url, events: ["*"] })));
  await w.advance(1_000);
  for (const body of ["Hello", "Good bye"]) {
    await w.run((engine) => engine.messages.send({ to, body }));
  }
  await w.settle();
  return w;
}

test("the laws hold in a world with webhooks, also after an erasure", async () => {
  const w = await sent();
  await w.check(...Object.values(invariants));
  const { data } = await w.engine().contacts.list();
  await w.run((engine) => engine.contacts.erase(data[0]?.id ?? ""));
  await w.settle();
  await w.check(...Object.values(invariants));
});

test("a message that overtakes another one of its conversation is found", async () => {
  const w = await sent();
  const [carrier] = w.carriers;
  if (carrier === undefined) throw new Error("there is no carrier");
  const forged = over(w, {
    carriers: [over(carrier, { calls: carrier.calls.toReversed() })],
  });
  expect((await invariants.conversationsInOrder(forged))?.description).toMatch(
    /^the carrier got msg_\w+ before msg_\w+, which comes first$/,
  );
});

test("an event that is not written is found", async () => {
  const w = await sent(without("message.sent"));
  expect((await invariants.noGapInTheEvents(w))?.description).toMatch(
    /^msg_\w+ is delivered, but the log has no message\.sent of it$/,
  );
});

test.each(["undelivered", "expired", "failed"] as const)(
  "a message that is %s without an event is found",
  async (status) => {
    const attempts = {
      undelivered: { outcome: "accepted", receipts: [{ status: "undelivered" }] },
      expired: { outcome: "throttled", retryAfterMs: 3_600_000 },
      failed: "refused",
    } as const;
    const carrier = scriptedCarrier({ script: () => attempts[status] });
    const w = await sent(without("message.failed"), { transports: [carrier] });
    expect((await invariants.noGapInTheEvents(w))?.description).toMatch(
      new RegExp(`^msg_\\w+ is ${status}, but the log has no message\\.failed of it$`),
    );
  },
);

test("a canceled message without an event is found", async () => {
  const w = world({ storage: without("message.updated"), transports: [scriptedCarrier()] });
  await w.run(async ({ messages }) => {
    const { id } = await messages.send({ to, body: "Hello", send_at: "2026-01-02T00:00:00Z" });
    await messages.cancel(id);
  });
  expect((await invariants.noGapInTheEvents(w))?.description).toMatch(
    /^msg_\w+ is canceled, but the log has no message\.updated of it$/,
  );
});

test("an event is missed in an account that has sent nothing", async () => {
  const w = world({ storage: without("message.received"), transports: [scriptedCarrier()] });
  await w.run(async (engine) => {
    const { account } = await engine.accounts.create({ name: "Bakery" });
    await engine.account(account.id).sandbox.inbound({ from: to, body: "Hello" });
  });
  expect((await invariants.noGapInTheEvents(w))?.description).toMatch(
    /^msg_\w+ is received, but the log has no message\.received of it$/,
  );
});

test("a failure that is reported twice is found", async () => {
  const storage = planted((writes) =>
    writes.flatMap((write) =>
      isEvent("message.failed", write) && "row" in write
        ? [write, { ...write, row: { ...write.row, id: `evt_${"0".repeat(26)}` } }]
        : [write],
    ),
  );
  const w = world({ storage, transports: [scriptedCarrier({ script: () => "refused" })] });
  await w.run((engine) => engine.messages.send({ to, body: "Hello" }));
  await w.settle();
  expect((await invariants.everyEventOnce(w))?.description).toMatch(
    /^the log has message\.failed of msg_\w+ twice$/,
  );
});

test("an event that streams leave out is found", async () => {
  const w = await sent();
  const { data } = await w.engine().events.list();
  const second = data.at(-2)?.id ?? "";
  const engine = w.engine();
  const account: typeof engine.account = (...given) => {
    const handle = engine.account(...given);
    const { events } = handle;
    const stream: typeof events.stream = async (...input) => {
      const all = await events.stream(...input);
      return (async function* some() {
        for await (const event of all) if (event.id !== second) yield event;
      })();
    };
    return over(handle, { events: over(events, { stream }) });
  };
  const gapped = over(w, {
    run: (code, options) => w.run(() => code(over(engine, { account })), options),
  });
  expect((await invariants.noGapInTheEvents(gapped))?.description).toBe(
    `a stream has ${data.at(-3)?.id} in the place of ${second}`,
  );
});

test("an event without a delivery for a webhook that wants it is found", async () => {
  let deliveries = 0;
  const w = await sent(
    planted((writes) =>
      writes.filter((write) => !isInsert("deliveries", write) || ++deliveries !== 3),
    ),
  );
  expect((await invariants.everyEventToItsWebhooks(w))?.description).toMatch(
    /^wh_\w+ has no delivery of evt_\w+$/,
  );
});

test("engines whose clocks differ are not blamed for events before a webhook", async () => {
  const w = world({ storage: memory(), transports: [scriptedCarrier()], engines: 2 });
  w.skewClock("engine 2", 3_000);
  await w.run((engine) => engine.messages.send({ to, body: "Hello" }), { engine: "engine 2" });
  await w.advance(500);
  await w.run((engine) => engine.webhooks.create({ url, events: ["*"] }), { engine: "engine 1" });
  await w.settle();
  await w.check(invariants.everyEventToItsWebhooks);
});

test.each([
  ["nowhere", []],
  ["at another URL only", [url]],
])("a delivery that succeeded but arrived %s is found", async (_, arrivedAt) => {
  const w = await sent();
  const other = await w.run((engine) =>
    engine.webhooks.create({ url: `${url}/other`, events: ["*"] }),
  );
  w.receiver.trust(other);
  await w.advance(1_000);
  await w.run((engine) => engine.messages.send({ to, body: "Hello again" }));
  await w.settle();
  const received = w.receiver.received.filter((each) => arrivedAt.includes(each.url));
  const forged = over(w, { receiver: over(w.receiver, { received }) });
  expect((await invariants.everyEventToItsWebhooks(forged))?.description).toMatch(
    /^the delivery of evt_\w+ to wh_\w+ succeeded, though nobody took it$/,
  );
});

test("a delivery that is posted again after it succeeded is found", async () => {
  const w = await sent(
    planted((writes) =>
      writes.map((write) =>
        "row" in write && write.collection.name === "delivery_attempts"
          ? { ...write, row: { ...write.row, manual: false } }
          : write,
      ),
    ),
  );
  const [hook] = (await w.engine().webhooks.list()).data;
  const [made] = (await w.engine().webhooks.deliveries(hook?.id ?? "")).data;
  await w.run((engine) => engine.webhooks.redeliver(hook?.id ?? "", made?.id ?? ""));
  await w.settle();
  expect((await invariants.everyEventToItsWebhooks(w))?.description).toMatch(
    /was posted again in attempt 2, though an earlier one succeeded$/,
  );
});

interface Forgetful {
  readonly storage: StoragePort<undefined>;
  on: boolean;
}

/** A storage that keeps the old values of some columns in all updates, from when it is told to. */
function forgetful(name: string, column: string): Forgetful {
  const rows = new Map<string, Row>();
  const plan: Forgetful = {
    on: false,
    storage: planted((writes) =>
      writes.map((write) => {
        if (write.collection.name !== name || !("row" in write)) return write;
        const id = String(write.row["id"]);
        const old = rows.get(id)?.[column];
        rows.set(id, write.row);
        return plan.on && old !== undefined
          ? { ...write, row: { ...write.row, [column]: old } }
          : write;
      }),
    ),
  };
  return plan;
}

async function eraseIn(w: World): Promise<void> {
  const { data } = await w.engine().contacts.list();
  await w.run((engine) => engine.contacts.erase(data[0]?.id ?? ""));
  await w.settle();
}

/** The values in an event that are the number, the name or the words of a contact. */
function* personal(
  value: unknown,
  path: readonly string[] = [],
): Generator<{ readonly path: readonly string[]; readonly text: string }> {
  if (typeof value === "string" && [to, "Ann", "secret"].some((each) => value.includes(each))) {
    yield { path, text: value };
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) yield* personal(member, [...path, name]);
}

/** The same value with one text in it replaced. */
function withText(value: unknown, [name, ...rest]: readonly string[], text: string): unknown {
  if (name === undefined) return text;
  const before = typeof value === "object" && value !== null ? value : {};
  return { ...before, [name]: withText(Reflect.get(before, name), rest, text) };
}

test("each number, name and text of an erased contact that is left in an event is found", async () => {
  const w = world({ storage: memory(), transports: [scriptedCarrier()] });
  await w.run(async (engine) => {
    await engine.contacts.create({ name: "Ann", phone: to });
    const { id } = await engine.messages.send({ to, body: "A secret" });
    const { conversation_id } = await engine.messages.get(id);
    await engine.conversations.handOff(conversation_id, { reason: "A secret", summary: "secret" });
    for (const body of ["My secret", "STOP"]) await engine.sandbox.inbound({ from: to, body });
  });
  await w.settle();
  const before = (await w.engine().events.list({ limit: 100 })).data;
  await eraseIn(w);
  const left = before.flatMap((event) =>
    [...personal(event.data)].map(({ path, text }) => ({ id: event.id, path, text })),
  );
  expect(left.length).toBeGreaterThan(30);
  const engine = w.engine();
  for (const { id, path, text } of left) {
    const account: typeof engine.account = (...given) => {
      const handle = engine.account(...given);
      const list: typeof handle.events.list = async (...page) => {
        const found = await handle.events.list(...page);
        const data = found.data.map((event) =>
          event.id === id ? { ...event, data: withText(event.data, path, text) } : event,
        );
        return { ...found, data };
      };
      return over(handle, { events: over(handle.events, { list }) });
    };
    const forged = over(w, { engine: () => over(engine, { account }) });
    const found = (await invariants.erasedMeansGone(forged))?.description;
    expect(found, `${path.join(".")} is "${text}"`).toContain(`${id} has `);
  }
});

test.each([
  [
    "events",
    "data",
    /^ct_\w+ is erased, but [\w.]+ evt_\w+ has (the number \+15005550101|a name)$/,
  ],
  ["deliveries", "body", /^the contact of evt_\w+ is erased, but a delivery has its body$/],
])("an erasure that forgets the %s is found", async (name, column, finding) => {
  const plan = forgetful(name, column);
  const w = await sent(plan.storage);
  plan.on = true;
  await eraseIn(w);
  expect((await invariants.erasedMeansGone(w))?.description).toMatch(finding);
});

test("a message whose contact is erased is found", async () => {
  const w = await sent();
  const engine = w.engine();
  const account: typeof engine.account = (...given) => {
    const handle = engine.account(...given);
    const get = () => Promise.reject(new TidingsError("not_found", "No such contact."));
    return over(handle, { contacts: over(handle.contacts, { get }) });
  };
  const forged = over(w, { engine: () => over(engine, { account }) });
  expect((await invariants.erasedMeansGone(forged))?.description).toMatch(
    /^msg_\w+ is still there, though its contact ct_\w+ is erased$/,
  );
});
