/** The law of erasures finds what a storage keeps of a contact. */
import { expect, test } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import {
  invariants,
  scriptedCarrier,
  scriptedModel,
  world,
  type World,
} from "../../../adapters/testing/index.ts";
import { TidingsError } from "../../../src/index.ts";
import { pagePromise } from "../../../src/operations/index.ts";
import type { Row, StoragePort } from "../../../src/ports/storage.ts";
import { over } from "../../support/over.ts";
import { planted, sent, to } from "./planted.ts";

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

test("all data and words of an erased contact that are left in an event are found", async () => {
  const model = scriptedModel({ script: () => "A secret" });
  const w = world({ storage: memory(), transports: [scriptedCarrier()], model });
  await w.run(async (engine) => {
    await engine.agents.create({ name: "Ada", channels: ["sms"] });
    await engine.contacts.create({
      name: "Ann",
      phone: to,
      email: "a@secret.example",
      labels: ["secret"],
      attributes: { order: "secret" },
    });
    await engine.sandbox.inbound({ from: to, body: "My secret" });
  });
  await w.settle();
  await w.run(async (engine) => {
    const { id } = await engine.messages.send({ to, body: "A secret" });
    const { conversation_id } = await engine.messages.get(id);
    await engine.conversations.handOff(conversation_id, { reason: "A secret", summary: "secret" });
    await engine.sandbox.inbound({ from: to, body: "STOP" });
  });
  await w.settle();
  const before = (await w.engine().events.list({ limit: 100 })).data;
  await eraseIn(w);
  expect(before.map(({ type }) => type)).toContain("agent.run.completed");
  const left = before.flatMap((event) =>
    [...personal(event.data)].map(({ path, text }) => ({ id: event.id, path, text })),
  );
  expect(left.length).toBeGreaterThan(30);
  const engine = w.engine();
  for (const { id, path, text } of left) {
    const account: typeof engine.account = (...given) => {
      const handle = engine.account(...given);
      const list: typeof handle.events.list = (filters) =>
        pagePromise(async (cursor) => {
          const found = await handle.events.list({ ...filters, cursor });
          const data = found.data.map((event) =>
            event.id === id ? { ...event, data: withText(event.data, path, text) } : event,
          );
          return { ...found, data };
        });
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

test.each([
  ["message", "msg"],
  ["conversation", "conv"],
])("a %s whose contact is erased is found", async (_, prefix) => {
  const w = await sent();
  const engine = w.engine();
  const account: typeof engine.account = (...given) => {
    const handle = engine.account(...given);
    const get = () => Promise.reject(new TidingsError("not_found", "No such contact."));
    const list: typeof handle.messages.list = (filters) =>
      pagePromise(async (cursor) => {
        const found = await handle.messages.list({ ...filters, cursor });
        return prefix === "msg" ? found : { ...found, data: [] };
      });
    return over(handle, {
      contacts: over(handle.contacts, { get }),
      messages: over(handle.messages, { list }),
    });
  };
  const forged = over(w, { engine: () => over(engine, { account }) });
  expect((await invariants.erasedMeansGone(forged))?.description).toMatch(
    new RegExp(`^${prefix}_\\w+ is still there, though its contact ct_\\w+ is erased$`),
  );
});
