/** Two things that are done to contacts at once: the one whole between what the other read and what it writes, at each of its commits. */
import { describe, expect, it } from "vitest";
import type { AccountHandle } from "../../src/account-handle.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { storages } from "../support/storages.ts";
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
  "something is noticed about Ann": ({ contacts }, [a]) =>
    contacts.addObservation(a, { content: "kumquat", kind: "x" }),
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

const expected = ["done", "conflict", "not_found", "validation_failed", "erased"];

/** A storage that does something between a group's reads and its commit. */
function interrupted(storage: StoragePort): {
  readonly storage: StoragePort;
  before(commit: number, work: () => Promise<void>): void;
} {
  let left = Infinity;
  let interrupt = async (): Promise<void> => {};
  const begin: StoragePort["begin"] = (how) => {
    const group = storage.begin(how);
    return {
      read: (lookups) => group.read(lookups),
      abort: () => group.abort(),
      async commit(writes) {
        // An exclusive one keeps others out.
        if (how !== "exclusive" && left-- === 0) await interrupt();
        await group.commit(writes);
      },
    };
  };
  return {
    storage: { ...storage, begin },
    before(commit, work) {
      left = commit;
      interrupt = work;
    },
  };
}

/** Commits of one call, with those that are run again. */
const mostCommits = 12;

// Of the storages only this one lets groups of several engines read side by side; the others take turns.
const postgres = storages.find(({ name }) => name === "PostgreSQL");

describe.each(
  pairs.flatMap(([a, b]) => [
    { a, b },
    { a: b, b: a },
  ]),
)("$a, and meanwhile $b", ({ a, b }) => {
  it("leaves contacts whole, whenever it meets", async () => {
    const { clock, engine } = world();
    const ground = postgres?.open();
    if (ground === undefined) throw new Error("there is no PostgreSQL");
    const storage = ground.connect();
    const { storage: own, before } = interrupted(ground.connect());
    const [one, two] = [engine(own), engine(storage)];
    let reached = 0;
    for (let commit = 0; reached === commit && commit < mostCommits; commit++) {
      const { account } = await two.accounts.create({ name: "moments" });
      const [mine, theirs] = [one.account(account.id), two.account(account.id)];
      const [x, y, z] = await Promise.all(numbers.map((from) => theirs.sandbox.inbound({ from, body: "hello" })));
      if (x === undefined || y === undefined || z === undefined) throw new Error("three were made");
      const ids = [x.contact_id, y.contact_id, z.contact_id] as const;
      await mine.get();

      const ends: string[] = [];
      before(commit, async () => {
        ends.push(await outcome(acts[b](theirs, ids)));
        reached = commit + 1;
      });
      ends.push(await outcome(acts[a](mine, ids)));

      for (const end of ends) expect(expected).toContain(end);
      await clock.settle();
      await checkContacts(storage, account.id);
      if (a !== "Ann is erased" && b !== "Ann is erased") continue;
      const words = await tablesWith(storage, ["kumquat"], account.id);
      const { data } = await theirs.contacts.list({ phone: ann });
      if (data.length === 0) expect([commit, words]).toEqual([commit, []]);
    }
    expect(reached).toBeGreaterThan(0);
  });
});
