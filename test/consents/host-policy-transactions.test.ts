import { AsyncLocalStorage } from "node:async_hooks";
import type { DatabaseSync } from "node:sqlite";
import type { PoolClient } from "pg";
import { describe, expect, it, vi } from "vitest";
import type { Policy, Verdict } from "../../src/ports/policy.ts";
import { hosts, note } from "../adapters/transactions/hosts.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { held } from "../support/storage/real-time-storage.ts";

const allow: Verdict = { verdict: "allow" };
const deny: Verdict = { verdict: "deny", code: "banned", message: "It is on our list." };

/** How many rows a query finds, in the transaction of a policy. */
async function countOf(tx: object, sql: string): Promise<number> {
  if ("prepare" in tx) return (tx as DatabaseSync).prepare(sql).all().length;
  const { rows } = await held((tx as PoolClient).query<object>(sql));
  return rows.length;
}

const numbers = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `+150055502${String(i).padStart(2, "0")}`);

describe.each(hosts)("the transactions of host policies on $name", ({ name, open }) => {
  async function opened(...policies: Policy<object>[]) {
    const host = await open();
    const storage = host.connect();
    const begin = storage.transaction?.bind(storage);
    if (begin === undefined) throw new TypeError("the storage has no transactions");
    const transaction = vi.fn(begin);
    Object.defineProperty(storage, "transaction", { value: transaction });
    const { clock, engine, log } = world();
    const line = carrier({ receipts: "none" });
    const one = engine(storage, { transports: [line], policies });
    const list = (number: string) => one.transaction((tx) => host.run(tx, note(number)));
    return { clock, line, log, one, list, transaction, begin };
  }

  it("are opened for the messages for which a policy queries, and for no others", async () => {
    const { one, clock, line, list, transaction } = await opened(
      { name: "facts", evaluate: ({ message }) => (message.body === "No" ? deny : allow) },
      { name: "waits", evaluate: async () => Promise.resolve(allow) },
      {
        name: "marketing",
        async evaluate({ message }, tx) {
          if (message.category !== "marketing") return allow;
          const found = await countOf(tx, `SELECT 1 FROM notes WHERE text = '${message.to}'`);
          return found > 0 ? deny : allow;
        },
      },
    );
    const [to = "", listed = ""] = numbers(2);
    await list(listed);
    await one.start();
    transaction.mockClear();
    await one.messages.send({ to, body: "Hello" });
    await one.messages.send({ to: listed, body: "Hello" });
    expect(await outcome(one.messages.send({ to, body: "No" }))).toBe("policy_denied");
    await clock.settle();
    expect([line.calls.length, transaction.mock.calls.length]).toEqual([2, 0]);
    const offer = { body: "Fresh bread", category: "marketing" } as const;
    await one.messages.send({ ...offer, to });
    expect(await outcome(one.messages.send({ ...offer, to: listed }))).toBe("policy_denied");
    await clock.settle();
    expect(line.calls).toHaveLength(3);
    expect(transaction).toHaveBeenCalled();
  });

  it.each<readonly [string, Policy<object>["evaluate"]]>([
    [
      "catches errors of its handle",
      ({ message }, tx) =>
        countOf(tx, `SELECT 1 FROM notes WHERE text = '${message.to}'`).then(
          (found) => (found > 0 ? deny : allow),
          () => allow,
        ),
    ],
    [
      "uses its handle late",
      async ({ message }, tx) => {
        await Promise.resolve();
        const found = await countOf(tx, `SELECT 1 FROM notes WHERE text = '${message.to}'`);
        return found > 0 ? deny : allow;
      },
    ],
  ])("are there for a policy that %s", async (_, evaluate) => {
    const { one, list, log } = await opened({ name: "listed", evaluate });
    const [to = "", listed = ""] = numbers(2);
    await list(listed);
    expect(await outcome(one.messages.send({ to: listed, body: "Hello" }))).toBe("policy_denied");
    expect(await outcome(one.messages.send({ to, body: "Hello" }))).toBe("done");
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  });

  it.runIf(name === "PostgreSQL")(
    "are there for a policy that starts two queries and awaits one after the other",
    async () => {
      const { one, list } = await opened({
        name: "listed",
        async evaluate({ message }, tx) {
          const client = tx as PoolClient;
          const find = async (text: string) =>
            (await client.query(`SELECT 1 FROM notes WHERE text = '${text}'`)).rowCount;
          const [all, its] = [find("all"), find(message.to)];
          return (await all) === 1 || (await its) === 1 ? deny : allow;
        },
      });
      const [to = ""] = numbers(1);
      await list(to);
      // A rejection that nothing handles would fail this test.
      expect(await outcome(one.messages.send({ to, body: "Hello" }))).toBe("policy_denied");
    },
  );

  it("let policies see what earlier commands wrote, and spare others a failure", async () => {
    const { one, log } = await opened({
      name: "once",
      async evaluate({ message }, tx) {
        if (message.body === "No") return (await countOf(tx, "SELECT 1")) > 0 ? deny : allow;
        if (message.body === "Fail") await countOf(tx, "SELECT 1 FROM no_such_table");
        // Transactions that lock this row run one after the other.
        const lock = "prepare" in tx ? "" : " FOR UPDATE";
        await countOf(tx, `SELECT 1 FROM notes${lock}`);
        const sent = `SELECT 1 FROM tidings_messages WHERE "to" = '${message.to}'`;
        return (await countOf(tx, sent)) > 0 ? deny : allow;
      },
    });
    await one.transaction(async (tx) => {
      if ("prepare" in tx) (tx as DatabaseSync).exec(note("lock"));
      else await held((tx as PoolClient).query(note("lock")));
    });
    const [twice = "", other = ""] = numbers(2);
    const sends = [
      { to: twice, body: "Hello" },
      { to: other, body: "No" },
      { to: twice, body: "Hello again" },
      { to: other, body: "Fail" },
      { to: twice, body: "And again" },
      { to: other, body: "Hello" },
    ];
    const outcomes = await Promise.all(sends.map((each) => outcome(one.messages.send(each))));
    const denied = "policy_denied";
    const [first, , second, , third] = outcomes;
    expect([first, second, third].filter((each) => each === "done")).toEqual(["done"]);
    expect([first, second, third].filter((each) => each === denied)).toHaveLength(2);
    expect([outcomes[1], outcomes[3], outcomes[5]]).toEqual([denied, "internal", "done"]);
    const { data } = await one.messages.list();
    expect(new Set(data.map(({ to }) => to))).toEqual(new Set([twice, other]));
    expect(data).toHaveLength(2);
    // The failed policy was evaluated again alone, but is logged once.
    expect(log.filter(({ level }) => level === "error")).toHaveLength(1);
  });

  it("are shared by commands that wait together, if there is one at a time", async () => {
    const { one, transaction } = await opened({
      name: "query",
      evaluate: async (_, tx) => ((await countOf(tx, "SELECT 1")) > 0 ? allow : deny),
    });
    const sends = numbers(40).map((to) => one.messages.send({ to, body: "Hello" }));
    expect(new Set((await Promise.all(sends)).map(({ status }) => status))).toEqual(
      new Set(["queued"]),
    );
    // The pools of these tests are so small that PostgreSQL has one at a time, too.
    expect(transaction.mock.calls.length).toBeLessThan(10);
  });

  it.each<readonly [string, Policy<object>["evaluate"]]>([
    ["decide at once", () => allow],
    ["return a promise", async () => Promise.resolve(allow)],
    ["query", async (_, tx) => ((await countOf(tx, "SELECT 1")) > 0 ? allow : deny)],
  ])("leave policies that %s in the async context of their send", async (_, evaluate) => {
    const context = new AsyncLocalStorage<string>();
    const seen: [string, string | undefined][] = [];
    const { one } = await opened({
      name: "context",
      evaluate(facts, tx) {
        seen.push([facts.message.to, context.getStore()]);
        return evaluate(facts, tx);
      },
    });
    const sends = numbers(5).map((to) =>
      context.run(to, () => one.messages.send({ to, body: "Hello" })),
    );
    await Promise.all(sends);
    expect(seen.length).toBeGreaterThanOrEqual(5);
    for (const [to, its] of seen) expect(its).toBe(to);
  });

  it("tell policies the time when they are called, also after a long wait", async () => {
    const ages: number[] = [];
    const { one, clock } = await opened({
      name: "slow",
      async evaluate({ now }, tx) {
        await countOf(tx, "SELECT 1");
        ages.push(clock.now() - now);
        await clock.sleep(2_000);
        return allow;
      },
    });
    let done = false;
    const sends = Promise.all(numbers(3).map((to) => one.messages.send({ to, body: "Hello" })));
    void sends.finally(() => (done = true));
    await clock.advanceUntil(() => done);
    expect((await sends).map(({ status }) => status)).toEqual(Array(3).fill("queued"));
    expect(ages).toEqual([0, 0, 0]);
  });

  it.runIf(name === "SQLite")("run their commands again alone if the commit fails", async () => {
    const { one, transaction, begin, log } = await opened({
      name: "query",
      evaluate: async (_, tx) => ((await countOf(tx, "SELECT 1")) > 0 ? allow : deny),
    });
    await one.contacts.list();
    transaction.mockImplementationOnce((work) =>
      begin(async (handle) => {
        await work(handle);
        throw new Error("a constraint of the host application failed");
      }),
    );
    const sends = numbers(3).map((to) => one.messages.send({ to, body: "Hello" }));
    expect((await Promise.all(sends)).map(({ status }) => status)).toEqual(Array(3).fill("queued"));
    expect((await one.messages.list()).data).toHaveLength(3);
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  });
});
