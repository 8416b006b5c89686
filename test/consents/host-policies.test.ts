import { AsyncLocalStorage } from "node:async_hooks";
import type { DatabaseSync } from "node:sqlite";
import { inspect } from "node:util";
import type { PoolClient } from "pg";
import { describe, expect, it } from "vitest";
import { MessagingEngine } from "../../adapters/entry.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import type { EngineOptions } from "../../src/host/options/options.ts";
import type { Policy, PolicyFacts, Verdict } from "../../src/ports/policy.ts";
import { hosts, note } from "../adapters/transactions/hosts.ts";
import { carrier } from "../support/engines/carrier.ts";
import { stopped, world } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { isLong } from "../support/runs.ts";
import { held } from "../support/storage/real-time-storage.ts";

const to = "+15005550101";
const hello = { to, body: "Hello" };
const allow: Verdict = { verdict: "allow" };

/** The rows of the host application's table, as its transaction reads them. */
async function notesIn(tx: object): Promise<string[]> {
  const sql = "SELECT text FROM notes ORDER BY id";
  if ("prepare" in tx) {
    return (tx as DatabaseSync)
      .prepare(sql)
      .all()
      .map(({ text }) => String(text));
  }
  const { rows } = await held((tx as PoolClient).query<{ text: string }>(sql));
  return rows.map(({ text }) => text);
}

/** Denies messages to the numbers in the host application's table. */
const banned: Policy<object> = {
  name: "banned",
  async evaluate({ message }, tx) {
    const notes = await notesIn(tx);
    return notes.includes(message.to)
      ? { verdict: "deny", code: "banned", message: "It is on our list." }
      : allow;
  },
};

describe.each(hosts)("host policies on $name", ({ name, open }) => {
  /** What does not depend on the storage. See `lightStorages`. */
  const isTried = isLong || name !== "PostgreSQL";

  async function opened(
    policies: readonly Policy<object>[],
    options: Partial<EngineOptions<object>> = {},
  ) {
    const host = await open();
    const { clock, engine, log } = world();
    const line = carrier({ receipts: "none" });
    // The storage passes the declared kind of handle.
    const one = engine(host.connect(), { transports: [line], policies, ...options });
    const list = (number: string) => one.transaction((tx) => host.run(tx, note(number)));
    return { host, clock, line, log, one, list };
  }

  it.runIf(isTried)("can return any thenable", async () => {
    const verdict: Verdict = { verdict: "deny", code: "banned", message: "It is on our list." };
    const thenable = (): PromiseLike<Verdict> => ({
      // oxlint-disable-next-line unicorn/no-thenable -- A query builder's query is one.
      then: (...given) => Promise.resolve(verdict).then(...given),
    });
    const { one } = await opened([{ name: "banned", evaluate: thenable }]);
    expect(await outcome(one.messages.send(hello))).toBe("policy_denied");
  });

  it("can read the host application's table, on acceptance and before the hand-over", async () => {
    const { one, list, clock, line } = await opened([banned]);
    const { id } = await one.messages.send(hello);
    await list(to);
    expect(await outcome(one.messages.send(hello))).toBe("policy_denied");
    await expect(one.messages.send(hello)).rejects.toMatchObject({
      status: 422,
      retryable: false,
      errors: [{ code: "banned", message: "It is on our list." }],
    });
    expect((await one.messages.preview(hello)).verdicts).toEqual([
      { policy: "consent", verdict: "allow" },
      { policy: "quiet_hours", verdict: "allow" },
      { policy: "banned", verdict: "deny", code: "banned", message: "It is on our list." },
    ]);
    await one.start();
    await one.messages.send({ to: "+15005550102", body: "Hello" });
    await clock.settle();
    expect(line.calls.map(({ message }) => message.to)).toEqual(["+15005550102"]);
    expect(await one.messages.get(id)).toMatchObject({
      status: "failed",
      error: { code: "policy_denied", provider_code: "banned", stage: "policy", permanent: true },
    });
  });

  it("see uncommitted writes of the caller's transaction", async () => {
    const { one, host, clock, line } = await opened([banned]);
    await one.start();
    const work = one.transaction(async (tx) => {
      await host.run(tx, note(to));
      await one.messages.send(hello, { tx });
    });
    expect(await outcome(work)).toBe("policy_denied");
    expect(await outcome(one.transaction((tx) => one.messages.send(hello, { tx })))).toBe("done");
    await clock.settle();
    expect(line.calls).toHaveLength(1);
  });

  it.runIf(isTried)("are not evaluated again for a known idempotency key", async () => {
    let asked = 0;
    const counting: Policy<object> = { name: "counting", evaluate: () => (asked++, allow) };
    const { one, list } = await opened([counting, banned]);
    const key = { idempotencyKey: "order-17" };
    const first = await one.messages.send(hello, key);
    await list(to);
    const denied = { idempotencyKey: "order-18" };
    expect(await outcome(one.messages.send(hello, denied))).toBe("policy_denied");
    asked = 0;
    expect(await one.messages.send(hello, key)).toEqual(first);
    expect(await outcome(one.messages.send(hello, denied))).toBe("policy_denied");
    expect(asked).toBe(0);
    expect((await one.messages.list()).data).toHaveLength(1);
  });

  it.runIf(isTried)(
    "that fail prevent sending: a send leaves no trace and can be repeated, a hand-over is retried",
    async () => {
      const broken = new Set<string>();
      const failing: Policy<object> = {
        name: "failing",
        evaluate({ message }) {
          if (broken.has(message.to)) throw new Error("our table is gone");
          return allow;
        },
      };
      const { one, clock, line, log } = await opened([failing]);
      broken.add(to);
      await expect(one.messages.send(hello)).rejects.toMatchObject({
        code: "internal",
        retryable: true,
      });
      expect([(await one.messages.list()).data, (await one.contacts.list()).data]).toEqual([
        [],
        [],
      ]);
      broken.clear();
      const { id } = await one.messages.send(hello);
      broken.add(to);
      await one.start();
      await clock.advance(5_000);
      expect([line.calls.length, (await one.messages.get(id)).status]).toEqual([0, "queued"]);
      expect(log.some(({ level }) => level === "error")).toBe(true);
      broken.clear();
      await clock.advance(60_000);
      expect([line.calls.length, (await one.messages.get(id)).status]).toEqual([1, "delivered"]);
    },
  );

  it.runIf(isTried)("that time out or return an invalid verdict have failed", async () => {
    const answers: unknown[] = [
      { verdict: "maybe" },
      { verdict: "deny", code: "Not A Code", message: "no" },
      { verdict: "defer", until: Number.NaN, reason: "no" },
      { verdict: "defer", until: Infinity, reason: "no" },
      { until: 0, reason: "no" },
      { code: "no", message: "no" },
      undefined,
    ];
    const odd: Policy<object> = { name: "odd", evaluate: () => answers[0] as Verdict };
    const { one, clock } = await opened([odd]);
    while (answers.length > 0) {
      expect(await outcome(one.messages.send(hello))).toBe("internal");
      answers.shift();
    }
    answers.push(new Promise(() => {}));
    const asked = clock.now();
    const slow = outcome(one.messages.send(hello));
    let done = false;
    void slow.then(() => (done = true));
    await clock.advanceUntil(() => done);
    expect([await slow, clock.now() - asked]).toEqual(["internal", 5_000]);
  });

  it.runIf(isTried)(
    "defer messages until the latest deferral; a denial takes precedence",
    async () => {
      let verdicts: Verdict[] = [];
      const rules = [0, 1, 2].map((i): Policy<object> => ({
        name: `rule_${i}`,
        evaluate: () => verdicts[i] ?? allow,
      }));
      const { one, clock, line } = await opened(rules);
      await one.start();
      const begun = clock.now();
      verdicts = [
        { verdict: "defer", until: begun + 10_000, reason: "busy" },
        { verdict: "defer", until: begun + 30_000, reason: "very busy" },
      ];
      const { id } = await one.messages.send(hello);
      await clock.advance(15_000);
      const { data } = await one.messages.timeline(id);
      expect(data.find(({ type }) => type === "policy")).toMatchObject({
        policy: "rule_1",
        reason: "very busy",
      });
      verdicts = [];
      await clock.advance(16_000);
      expect(line.calls.map(({ at }) => at - begun)).toEqual([30_000]);
      verdicts = [
        { verdict: "defer", until: begun + 99_000, reason: "busy" },
        allow,
        { verdict: "deny", code: "no", message: "No." },
      ];
      expect(await outcome(one.messages.send(hello))).toBe("policy_denied");
    },
  );
});

describe("host policies on memory", () => {
  it("get the message's facts and no handle", async () => {
    const { clock, started } = world();
    const seen: [PolicyFacts, unknown][] = [];
    const watching: Policy = {
      name: "watching",
      evaluate: (facts, tx) => (seen.push([facts, tx]), Promise.resolve(allow)),
    };
    const line = carrier({ receipts: "none" });
    const one = await started(memory(), { transports: [line], policies: [watching] });
    await one.messages.send({ ...hello, category: "marketing" });
    await clock.settle();
    const { id } = await one.contacts.create({
      phone: "+15005550102",
      labels: ["vip"],
      attributes: { plan: "gold" },
    });
    await one.messages.send({ to: id, body: "Hi" });
    await clock.settle();
    expect(line.calls).toHaveLength(2);
    expect(seen.map(([{ contact }, tx]) => [contact?.labels ?? null, tx])).toEqual([
      [null, undefined],
      [[], undefined],
      [["vip"], undefined],
      [["vip"], undefined],
    ]);
    expect(seen[0]?.[0]).toEqual({
      account_id: one.account().scope.account_id,
      mode: "sandbox",
      message: {
        id: null,
        channel: "sms",
        category: "marketing",
        from: "+15005559999",
        to,
        body: "Hello",
        media: [],
        metadata: {},
        author: {
          type: "api",
          id: null,
        },
      },
      consent: "unknown",
      contact: null,
      time_zone: "UTC",
      now: expect.any(Number) as unknown,
    });
  });

  it("are called in the asynchronous context of the call that needs the verdict", async () => {
    const { engine } = world();
    const request = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const watching: Policy = {
      name: "watching",
      evaluate: ({ message }) => (seen.push([message.to, request.getStore()]), allow),
    };
    const one = engine(memory(), { policies: [watching] });
    const numbers = [to, "+15005550102", "+15005550103"];
    await Promise.all(
      numbers.map((each) =>
        request.run(each, () => one.messages.send({ to: each, body: "Hello" })),
      ),
    );
    expect(seen).toEqual(numbers.map((each) => [each, each]));
  });

  it("see the metadata of a preview, a send, an edit and a hand-over", async () => {
    const { clock, started } = world();
    const seen: PolicyFacts["message"]["metadata"][] = [];
    const watching: Policy = {
      name: "watching",
      evaluate: ({ message }) => (seen.push(message.metadata), allow),
    };
    const one = await started(memory(), { transports: [carrier()], policies: [watching] });
    const send_at = new Date(clock.now() + 60_000).toISOString();
    const reminder = { ...hello, send_at, metadata: { kind: "reminder" } };
    await one.messages.preview(reminder);
    const { id } = await one.messages.send(reminder);
    await one.messages.edit(id, { metadata: { kind: "bill" } });
    await clock.advance(60_000);
    expect(seen.map(({ kind }) => kind)).toEqual(["reminder", "reminder", "bill", "bill"]);
  });

  it("that need a handle of SQL do not compile with a storage that has none", () => {
    const { engine } = world();
    const sql: Policy<DatabaseSync> = { name: "sql", evaluate: (_, tx) => (tx.exec(""), allow) };
    const any: Policy = { name: "any", evaluate: (_, tx) => (tx === undefined ? allow : allow) };
    const none: Policy<undefined> = { name: "none", evaluate: () => allow };
    const transports = [carrier()];
    const policies = [sql];
    // Only the types differ: none of these engines is used.
    // @ts-expect-error memory() has no handle
    void new MessagingEngine({ storage: memory(), transports, policies });
    // @ts-expect-error the type of the engine does not change what memory() has
    void new MessagingEngine<DatabaseSync>({ storage: memory(), transports, policies });
    const file = sqlite({ file: "a" });
    // @ts-expect-error a policy for storages without a handle
    void new MessagingEngine<DatabaseSync>({ storage: file, transports, policies: [none] });
    void new MessagingEngine({ storage: memory(), transports, policies: [any, none] });
    void new MessagingEngine({ storage: file, transports, policies: [sql, any] });
    // @ts-expect-error the options of an engine with any storage may have memory()
    const options: EngineOptions = { storage: memory(), transports, policies };
    expect(() => engine(memory(), options)).not.toThrow();
  });

  it("that fail are logged with their name, without the text of the message", async () => {
    const { clock, engine, log } = world();
    let fails = true;
    const crashes: Policy = {
      name: "crashes",
      evaluate({ message }) {
        if (fails) throw new RangeError(`cannot read ${message.body}`);
        return allow;
      },
    };
    const one = engine(memory(), { policies: [crashes] });
    const text = "My PIN is 4711";
    const thrown = await one.messages.send({ to, body: text }).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: "internal", cause: { message: `cannot read ${text}` } });
    const line = { level: "error", message: "a policy failed" };
    const facts = { policy: "crashes", mode: "sandbox" };
    expect(log).toMatchObject([
      { ...line, facts: { ...facts, message_id: null, err: { name: "RangeError" } } },
    ]);
    fails = false;
    const { id } = await one.messages.send({ to, body: text });
    fails = true;
    await one.start();
    await clock.settle();
    const failures = log.filter(({ message }) => message === line.message);
    expect(failures[1]).toMatchObject({ ...line, facts: { ...facts, message_id: id } });
    // The job that hands the message over logs its own failure.
    expect(log.length).toBeGreaterThan(failures.length);
    expect(inspect(log, { depth: null })).not.toContain("PIN");
    expect(JSON.stringify(log)).not.toContain("PIN");
  });

  it.each([
    [true, /^Expected \{ verdict: "allow" \}, .*, got true\.$/],
    [{ verdict: "block" }, /^Expected .*, got "block"\.$/],
    [{ verdict: "My PIN is 4711" }, /^Expected .*, got an object\.$/],
    [{ verdict: "deny", reason: "No" }, /^A verdict "deny" needs a code of .* and a message/],
    [{ verdict: "defer", until: "soon" }, /^A verdict "defer" needs until, .* and a reason/],
  ])("that return no verdict are logged with what was expected: %j", async (result, message) => {
    const { engine, log } = world();
    const wrong: Policy = { name: "wrong", evaluate: () => result as Verdict };
    const one = engine(memory(), { policies: [wrong] });
    await expect(one.messages.send(hello)).rejects.toMatchObject({ code: "internal" });
    const err = { message: expect.stringMatching(message) as unknown };
    expect(log).toMatchObject([{ message: "a policy failed", facts: { err } }]);
  });

  it("that take long do not keep two engines from sending for a throttled sender", async () => {
    const { clock, engine } = world();
    const storage = memory();
    const line = carrier({ receipts: "none" });
    const sent = new Set<string>();
    const slow: Policy = {
      name: "slow",
      async evaluate({ message: { body } }) {
        // Only before the hand-over, and for longer than the sender waits for a released message.
        if (sent.has(body)) await clock.sleep(4_500);
        return allow;
      },
    };
    const options = { transports: [line], policies: [slow] };
    const [one, two] = [engine(storage, options), engine(storage, options)];
    const from = "+15550000001";
    await one.senders.create({
      address: from,
      channels: ["sms"],
      transport: "sandbox",
      messages_per_second: 1,
    });
    const bodies = ["first", "second", "third"];
    for (const [n, body] of bodies.entries()) {
      await one.messages.send({ to: `+1500555010${n}`, body, from });
      sent.add(body);
    }
    await one.start();
    await two.start();
    await clock.advance(30_000);
    expect(line.calls.map(({ message }) => message.body)).toEqual(bodies);
  });

  it("can defer a message repeatedly, but not forever", async () => {
    const { clock, engine, started } = world();
    const storage = memory();
    const line = carrier({ receipts: "none" });
    const later = 35 * 86_400_000;
    const never: Policy = {
      name: "never",
      evaluate: ({ now }) => ({ verdict: "defer", until: now + later, reason: "not yet" }),
    };
    const { id } = await engine(storage, { transports: [line], policies: [never] }).messages.send(
      hello,
    );
    const statuses: string[] = [];
    for (let looks = 0; looks < 4; looks++) {
      const one = await started(storage, { transports: [line], policies: [never] });
      await clock.settle();
      statuses.push((await one.messages.get(id)).status);
      // The engine is stopped for a month, because its polling would be slow in a test.
      await stopped(one, clock);
      await clock.advance(later);
    }
    expect(statuses).toEqual(["scheduled", "scheduled", "expired", "expired"]);
    expect(line.calls).toEqual([]);
  });

  it("are rejected with duplicate names or if they are not policies", () => {
    const { engine } = world();
    const rule = (name: string): Policy => ({ name, evaluate: () => allow });
    for (const policies of [
      [rule("consent")],
      [rule("a"), rule("a")],
      [rule("No!")],
      [{ name: "a" }],
    ]) {
      expect(() => engine(memory(), { policies: policies as Policy[] })).toThrow(/policies/);
    }
    expect(() => engine(memory(), { quietHours: { from: "24:00", to: "08:00" } })).toThrow(
      /quietHours/,
    );
    expect(() => engine(memory(), { consent: { optOutText: " " } })).toThrow(/consent.optOutText/);
    expect(() => engine(memory(), { consent: { scope: "all" as "account" } })).toThrow(
      /consent.scope/,
    );
  });
});
