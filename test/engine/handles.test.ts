import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, vi } from "vitest";
import type {
  CommandOptions,
  EventPattern,
  Limits,
  SandboxEvent,
  SandboxInbound,
  SandboxReceipt,
  TestWebhook,
} from "../../adapters/entry.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { defaultLimits } from "../../src/kernel/limits.ts";
import { accountHandle, apiRoutes } from "../../src/modules.ts";
import type { ScopedRunner } from "../../src/operations/handle-methods.ts";
import { world } from "../support/engines/world.ts";
import { storages } from "../support/storage/storages.ts";

it("a handle is a plain object that can be copied and whose methods can be replaced", async () => {
  const handle = world().engine(memory()).account();
  const copy = { ...handle };
  expect((await copy.messages.list()).data).toEqual([]);
  const usage = vi.spyOn(handle, "usage");
  await handle.usage();
  expect(usage).toHaveBeenCalledOnce();
});

it("a method that takes an id ignores what a caller of `map` adds", async () => {
  const engine = world().engine(memory());
  const { id } = await engine.contacts.create({ name: "Zoe" });
  const found = await Promise.all([id].map(engine.contacts.get));
  expect(found).toMatchObject([{ id, name: "Zoe" }]);
});

it.each(storages)(
  "a loop over a list lets other work of the process run on $name",
  async ({ open }) => {
    const engine = world().engine(open().connect());
    for (const name of ["Ann", "Ben", "Cem", "Dora"]) await engine.contacts.create({ name });
    let turns = 0;
    const turn = (): void => {
      if (++turns < 3) setImmediate(turn);
    };
    setImmediate(turn);
    const contacts = await Array.fromAsync(engine.contacts.list({ limit: 1 }));
    expect(contacts).toHaveLength(4);
    expect(turns).toBe(3);
  },
);

it("a loop over a list keeps the filters that the list was called with", async () => {
  const engine = world().engine(memory());
  const phones = ["+15005550001", "+15005550002"] as const;
  for (const to of [...phones, ...phones]) await engine.messages.send({ to, body: "Hi" });
  const filters = { to: phones[0] as string, limit: 1 };
  const list = engine.messages.list(filters);
  filters.to = phones[1];
  const found: string[] = [];
  for await (const { to } of list) found.push(to);
  expect(found).toEqual([phones[0], phones[0]]);
});

it("the input of a list is an object, also in JavaScript", async () => {
  const engine = world().engine(memory());
  const { id } = await engine.contacts.create({ name: "Zoe" });
  for (const input of [null, [], "x"] as unknown[] as never[]) {
    const refused = { code: "validation_failed" };
    await expect(engine.contacts.list(input)).rejects.toMatchObject(refused);
    await expect(engine.contacts.messages(id, input)).rejects.toMatchObject(refused);
  }
});

it.each(storages)("the first calls of an account run in their order on $name", async ({ open }) => {
  const engine = world().engine(open().connect());
  const { account } = await engine.accounts.create({ name: "Zoe" });
  const { messages } = engine.account(account.id);
  const to = "+15005550001";
  const sent = await Promise.all(
    ["1", "2", "3"].map(async (body) => {
      await messages.send({ to, body });
      return body;
    }),
  );
  const { data } = await messages.list({ to });
  expect(data.map(({ body }) => body).toReversed()).toEqual(sent);
});

it.each(storages)("an error of a command leads to its caller, on $name", async ({ open }) => {
  const engine = world().engine(open().connect());
  const { id } = await engine.messages.send({ to: "+15005550001", body: "Hello" });
  async function tellCustomer(): Promise<void> {
    await engine.messages.send({ to: "+15005550001", body: "Hello", from: "+15005550009" });
  }
  async function editSent(): Promise<void> {
    await engine.messages.edit(id, { body: "Hi" });
  }
  const callers = { tellCustomer, editSent };
  for (const [name, call] of Object.entries(callers)) {
    // A command that succeeds may be in the same group.
    const [failed] = await Promise.allSettled([call(), engine.contacts.create({ name: "Zoe" })]);
    expect(failed).toMatchObject({
      reason: { message: expect.any(String), stack: expect.stringMatching(`\\b${name}\\b`) },
    });
  }
});

it("the handler of the API can be passed on as a function", async () => {
  const { handle } = world().engine(memory()).api;
  const { status } = await handle({
    method: "GET",
    url: "/v1/health",
    path: "/v1/health",
    query: "",
    headers: [],
    body: async () => ({ kind: "bytes", bytes: new Uint8Array() }),
    async *chunks() {},
    signal: new AbortController().signal,
  });
  expect(status).toBe(200);
});

/** Returns the operations that the methods of a handle run, each with the names of its methods. */
async function operationsInProcess(): Promise<Map<{ readonly name: string }, string[]>> {
  const ran = new Map<{ readonly name: string }, string[]>();
  let method = "";
  const record = (operation: { readonly name: string }): never => {
    ran.set(operation, [...(ran.get(operation) ?? []), method]);
    throw new Error("recorded");
  };
  const runner: ScopedRunner = {
    change: record,
    read: record,
    yieldToEventLoop: async () => {},
    rows: record,
    signal: record,
    open: record,
  };
  const callAll = async (methods: object, group: string): Promise<void> => {
    for (const [name, value] of Object.entries(methods) as [string, unknown][]) {
      if (typeof value === "object" && value !== null) await callAll(value, name);
      if (typeof value !== "function") continue;
      method = `${group}.${name}`;
      const call = value as (...args: readonly unknown[]) => unknown;
      await expect((async () => call("id", {}, {}))()).rejects.toThrow("recorded");
    }
  };
  await callAll(accountHandle({ account_id: "acct_1", mode: "sandbox" }, runner), "account");
  return ran;
}

it("each endpoint has a method in process, except those of carriers and of the service", async () => {
  const ran = await operationsInProcess();
  const missing = apiRoutes(defaultLimits).filter(
    (route) => !ran.has(route.operation) && !("rows" in route && route.rows && ran.has(route.rows)),
  );
  expect(missing.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
    "GET /v1/health",
    "GET /v1/health/live",
    "GET /v1/openapi.json",
    "POST /v1/transports/:name/callbacks",
  ]);
});

it("each operation has the name of its method, which generated clients have too", async () => {
  const ran = await operationsInProcess();
  const others = [...ran].filter(([{ name }, methods]) => !methods.includes(name));
  expect(others.map(([{ name }, methods]) => `${methods.join()} runs ${name}`)).toEqual([]);
});

describe("the argument of a method", () => {
  it.each<[rows: unknown, got: string]>([
    [undefined, "undefined"],
    [{}, "an object"],
    ["+15005550001", "a string"],
  ])("that is no list of rows is refused by an import: %o", async (rows, got) => {
    const { contacts } = world().engine(memory());
    await expect(contacts.import(rows as []).next()).rejects.toMatchObject({
      code: "invalid_option",
      message: `contacts.import: rows: expected an iterable or async iterable of rows, got ${got}`,
    });
  });

  it("that is no function is refused by a transaction", async () => {
    const engine = world().engine(memory());
    await expect(engine.transaction(undefined as never)).rejects.toMatchObject({
      code: "invalid_option",
      message: "engine.transaction: work: expected a function, got undefined",
    });
  });
});

describe("the options of a command", () => {
  const hello = { to: "+15005550001", body: "Hello" };

  it.each<[given: unknown, error: { parameter: string; code: string; message: RegExp }]>([
    [
      { idempotencyKey: 17 },
      { parameter: "idempotencyKey", code: "invalid_type", message: /, got 17$/ },
    ],
    [
      { idempotencyKey: null },
      { parameter: "idempotencyKey", code: "invalid_type", message: /l$/ },
    ],
    [{ idempotencyKey: "" }, { parameter: "idempotencyKey", code: "format", message: /1 to 255/ }],
    [
      { idempotency_key: "k" },
      {
        parameter: "idempotency_key",
        code: "unknown_option",
        message: /Did you mean "idempotencyKey"\?$/,
      },
    ],
    [
      { transaction: {} },
      { parameter: "transaction", code: "unknown_option", message: /or tx\.$/ },
    ],
    [0, { parameter: "options", code: "invalid_type", message: /got 0\./ }],
    [null, { parameter: "options", code: "invalid_type", message: /got null\./ }],
    ["k", { parameter: "options", code: "invalid_type", message: /got a string\./ }],
    [
      new DatabaseSync(":memory:"),
      { parameter: "options", code: "invalid_type", message: /a DatabaseSync\. .* pass \{ tx: / },
    ],
  ])("%o are refused with the place and the reason, and nothing is done", async (given, error) => {
    const { messages, contacts, sandbox } = world().engine(memory());
    const calls: ((options: object) => Promise<unknown>)[] = [
      (options) => messages.send(hello, options),
      (options) => messages.batch({ messages: [hello] }, options),
      (options) => contacts.create({ name: "Zoe" }, options),
      (options) => sandbox.seed(options),
    ];
    for (const call of calls) {
      await expect(call(given as object)).rejects.toMatchObject({
        code: "validation_failed",
        errors: [{ ...error, message: expect.stringMatching(error.message) as string }],
      });
    }
    expect((await contacts.list()).data).toEqual([]);
  });

  it("may be absent, undefined or without a prototype", async () => {
    const { messages } = world().engine(memory());
    const bare = Object.assign(Object.create(null) as object, { idempotencyKey: "k" });
    const first = await messages.send(hello, bare);
    const again = await messages.send(hello, { idempotencyKey: "k", tx: undefined });
    const other = await messages.send(hello, undefined);
    expect([again.id === first.id, other.id === first.id]).toEqual([true, false]);
  });
});

/** Not called: the compiler checks it. */
function types(): void {
  const engine = world().engine(memory());
  const tx = {};
  const webhook = { url: "https://example.com", events: ["*" as const] };
  void engine.webhooks.create({ ...webhook, events: ["message.*", "agent.run.*", "*"] });
  // @ts-expect-error a delivered message is published as message.sent
  void engine.webhooks.create({ ...webhook, events: ["message.delivered"] });
  // @ts-expect-error there are no such events
  void ("order.*" satisfies EventPattern);
  const copied = async (id: string): Promise<unknown> =>
    engine.webhooks.create({ ...webhook, events: (await engine.webhooks.get(id)).events });
  void copied;

  // Operations that use several transactions cannot join one.
  // @ts-expect-error tx is no option
  void engine.messages.batch({ messages: [] }, { tx });
  // @ts-expect-error tx is no option
  void engine.sandbox.reset({ tx });
  // @ts-expect-error tx is no option
  void engine.contacts.erase("con_1", { tx });
  // @ts-expect-error tx is no option
  void engine.contacts.merge("con_1", "con_2", { tx });
  const options: CommandOptions = { idempotencyKey: "k", tx };
  // @ts-expect-error a variable may have tx too
  void engine.messages.batch({ messages: [] }, options);
  void engine.messages.batch({ messages: [] }, { idempotencyKey: "k" });

  // A contact that was imported has an id.
  const imported = async (): Promise<string[]> => {
    const found: string[] = [];
    for await (const report of engine.contacts.import([])) {
      if (report.status !== "failed") found.push(report.contact_id);
    }
    return found;
  };
  void imported;

  void engine.sandbox.inbound({ from: "+15005550001", body: "Hi" } satisfies SandboxInbound);
  void ({ type: "message.sent" } satisfies SandboxEvent);
  void ([{ status: "delivered" }] satisfies SandboxReceipt[]);
  void ({ type: "message.sent" } satisfies TestWebhook);
  void ({ bodyBytes: 1, jsonDepth: 2 } satisfies Partial<Limits>);
}
void types;
