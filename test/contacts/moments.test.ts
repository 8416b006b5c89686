/** Two things that are done to contacts at once, from every moment of the one on. */
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { AccountHandle } from "../../src/account-handle.ts";
import { world } from "../support/world.ts";
import { checkContacts } from "./invariants.ts";
import { outcome } from "./people.ts";
import { tablesWith } from "./rows.ts";

const numbers = ["+4915112345671", "+4915112345672", "+4915112345673"] as const;
const [ann] = numbers;

type Act = (account: AccountHandle, ids: readonly [string, string, string]) => Promise<unknown>;

const acts = {
  "Ann into Bob": ({ contacts }, [a, b]) => contacts.merge(b, a),
  "Bob into Ann": ({ contacts }, [a, b]) => contacts.merge(a, b),
  "Bob into Cem": ({ contacts }, [_, b, c]) => contacts.merge(c, b),
  "Ann is erased": ({ contacts }, [a]) => contacts.erase(a),
  "Bob is erased": ({ contacts }, [_, b]) => contacts.erase(b),
  "Ann writes": ({ sandbox }) => sandbox.inbound({ from: ann, body: "kumquat" }),
  "Ann is written to": ({ messages }) => messages.send({ to: ann, body: "kumquat" }),
  "something is noticed about Ann": ({ contacts }, [a]) => contacts.addObservation(a, { content: "kumquat", kind: "x" }),
  "Ann's conversation is closed": async ({ contacts, conversations }, [a]) => {
    const [thread] = (await contacts.conversations(a)).data;
    return conversations.update(thread?.id ?? "", { status: "closed" });
  },
} as const satisfies Record<string, Act>;
type Name = keyof typeof acts;

const pairs: readonly (readonly [Name, Name])[] = [
  ["Ann into Bob", "Bob into Cem"],
  ["Ann into Bob", "Bob into Ann"],
  ["Ann into Bob", "Bob is erased"],
  ["Ann into Bob", "Ann is erased"],
  ["Ann into Bob", "Ann writes"],
  ["Ann into Bob", "Ann is written to"],
  ["Ann into Bob", "something is noticed about Ann"],
  ["Ann into Bob", "Ann's conversation is closed"],
  ["Ann is erased", "Ann writes"],
  ["Ann is erased", "Ann is written to"],
  ["Ann is erased", "something is noticed about Ann"],
  ["Ann is erased", "Ann's conversation is closed"],
];

/** Turns of the microtask queue: more than any of them takes. */
const mostTurns = 240;
const expected = ["done", "conflict", "not_found", "validation_failed", "erased"];

describe.each(pairs.flatMap(([a, b]) => [{ a, b }, { a: b, b: a }]))("$a, and meanwhile $b", ({ a, b }) => {
  it("leaves contacts whole, whenever the second begins", async () => {
    const { clock, engine } = world();
    const storage = memory();
    const [one, two] = [engine(storage), engine(storage)];
    for (let turns = 0; turns <= mostTurns; turns += 2) {
      const { account } = await one.accounts.create({ name: "moments" });
      const [mine, theirs] = [one.account(account.id), two.account(account.id)];
      const [x, y, z] = await Promise.all(numbers.map((from) => mine.sandbox.inbound({ from, body: "hello" })));
      if (x === undefined || y === undefined || z === undefined) throw new Error("three were made");
      const ids = [x.contact_id, y.contact_id, z.contact_id] as const;
      await theirs.get();

      const first = outcome(acts[a](mine, ids));
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      const ends = await Promise.all([first, outcome(acts[b](theirs, ids))]);

      for (const end of ends) expect(expected).toContain(end);
      await clock.settle();
      await checkContacts(storage, account.id);
      if (a !== "Ann is erased" && b !== "Ann is erased") continue;
      const words = await tablesWith(storage, ["kumquat"], account.id);
      const known = await mine.contacts.list({ phone: ann });
      if (known.data.length === 0) expect([turns, words]).toEqual([turns, []]);
    }
  });
});
