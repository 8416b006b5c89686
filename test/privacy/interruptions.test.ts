/** Pairs of concurrent operations: one runs completely between the other's reads and commit. */
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { SharedStorage } from "../../adapters/testing/world/ports/shared-storage.ts";
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { imported } from "../contacts/helpers.ts";
import { checkContacts } from "../contacts/invariants.ts";
import { world } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { cases, pointsApart } from "../support/runs.ts";
import { tablesWith } from "../support/storage/rows.ts";
import { storages, type StorageCase } from "../support/storage/storages.ts";

const numbers = ["+4915112345671", "+4915112345672", "+4915112345673"] as const;
const [ann] = numbers;

type Act = (account: AccountHandle, ids: readonly [string, string, string]) => Promise<unknown>;

async function threadOf({ contacts }: AccountHandle, id: string): Promise<string> {
  const [thread] = (await contacts.conversations(id)).data;
  return thread?.id ?? "conv_none";
}

const acts = {
  "Ann into Bob": ({ contacts }, [a, b]) => contacts.merge(b, a),
  "Bob into Ann": ({ contacts }, [a, b]) => contacts.merge(a, b),
  "Bob into Cem": ({ contacts }, [_, b, c]) => contacts.merge(c, b),
  "Ann is erased": ({ contacts }, [a]) => contacts.erase(a),
  "Bob is erased": ({ contacts }, [_, b]) => contacts.erase(b),
  "Ann writes": ({ sandbox }) => sandbox.inbound({ from: ann, body: "kumquat" }),
  "Ann is written to": ({ messages }) => messages.send({ to: ann, body: "kumquat" }),
  "an observation is added to Ann": ({ contacts }, [a]) =>
    contacts.addObservation(a, { content: "kumquat", kind: "x" }),
  "Ann's conversation is closed": async (account, [a]) =>
    account.conversations.update(await threadOf(account, a), { status: "closed" }),
  "Ann is written to by her id": ({ messages }, [a]) => messages.send({ to: a, body: "kumquat" }),
  "Ann is answered": async (account, [a]) =>
    account.conversations.reply(await threadOf(account, a), { body: "kumquat" }),
  "Ann is imported": async ({ contacts }) => {
    const [report] = await imported(contacts, [{ phone: ann, labels: ["kumquat"] }]);
    if (report?.status === "failed") throw new Error(JSON.stringify(report.errors));
  },
  "Ann opts out": ({ contacts }, [a]) =>
    contacts.setConsent(a, "text", { status: "opted_out", detail: "kumquat" }),
  "a note on Ann is written": async (account, [a]) =>
    account.conversations.addNote(await threadOf(account, a), { body: "kumquat" }),
  "nothing changes at Ann": ({ contacts }, [a]) =>
    contacts.update(a, {}, { idempotencyKey: "nothing" }),
  "nothing changes at Ann's conversation": async (account, [a]) =>
    account.conversations.setLabels(await threadOf(account, a), [], { idempotencyKey: "nothing" }),
} as const satisfies Record<string, Act>;
type Name = keyof typeof acts;

const pairs: readonly (readonly [Name, Name])[] = [
  ["Ann into Bob", "Bob into Cem"],
  ["Ann into Bob", "Bob into Ann"],
  ["Ann into Bob", "Bob is erased"],
  ["Ann into Bob", "Ann is erased"],
  ["Ann into Bob", "Ann writes"],
  ["Ann into Bob", "Ann is written to"],
  ["Ann into Bob", "an observation is added to Ann"],
  ["Ann into Bob", "Ann's conversation is closed"],
  ["Ann into Bob", "Ann is written to by her id"],
  ["Ann into Bob", "Ann is answered"],
  ["Ann into Bob", "Ann is imported"],
  ["Ann into Bob", "Ann opts out"],
  ["Ann is erased", "Ann is written to by her id"],
  ["Ann is erased", "Ann is answered"],
  ["Ann is erased", "Ann is imported"],
  ["Ann is erased", "Ann opts out"],
  ["Ann is erased", "Ann writes"],
  ["Ann is erased", "Ann is written to"],
  ["Ann is erased", "an observation is added to Ann"],
  ["Ann is erased", "Ann's conversation is closed"],
  ["Ann is erased", "a note on Ann is written"],
  ["Ann is erased", "nothing changes at Ann"],
  ["Ann is erased", "nothing changes at Ann's conversation"],
];

const mostDifferent: ReadonlySet<Name> = new Set([
  "Bob into Cem",
  "Ann is erased",
  "Ann writes",
  "Ann is imported",
  "Ann opts out",
  "a note on Ann is written",
]);
const pairsHere = cases(pairs, ([, b]) => mostDifferent.has(b));
const pairsOnPostgres = cases(pairs, ([a, b]) => a === "Ann is erased" && b === "Ann writes");

/** Operations that no merge affects. */
const unharmed: ReadonlySet<Name> = new Set([
  "Ann writes",
  "Ann is written to",
  "Ann is written to by her id",
  "Ann is imported",
]);

const expected = ["done", "conflict", "not_found", "validation_failed", "erased"];

/** A storage that runs a callback before a read of a group, or between its last read and commit. */
function interrupted(
  storage: StoragePort,
  atReads: boolean,
): {
  readonly storage: StoragePort;
  before(moment: number, work: () => Promise<void>): void;
} {
  let left = Infinity;
  let interrupt = async (): Promise<void> => {};
  const begin: StoragePort["begin"] = (how) => {
    const group = storage.begin(how);
    return {
      async read(lookups) {
        if (atReads && how !== "exclusive" && left-- === 0) await interrupt();
        return group.read(lookups);
      },
      abort: () => group.abort(),
      async commit(writes) {
        // An exclusive group locks others out.
        if (how !== "exclusive" && left-- === 0) await interrupt();
        await group.commit(writes);
      },
    };
  };
  return {
    storage: { ...storage, begin },
    before(moment, work) {
      left = moment;
      interrupt = work;
    },
  };
}

/** The maximum number of reads and commits of one call, including reruns. */
const mostMoments = 100;

// Storages that let groups of several engines read concurrently. Others serialize them.
const grounds: readonly Pick<StorageCase, "open">[] = [
  ...storages.filter(({ name }) => name === "PostgreSQL"),
  {
    open() {
      const storage = new SharedStorage(memory());
      return { connect: () => storage.connect() };
    },
  },
];
const [postgres = expect.fail(), late = expect.fail()] = grounds;
const onPostgres = { when: "between its reads and a commit", ground: postgres, atReads: false };
const onLate = { when: "at any of its reads and commits", ground: late, atReads: true };

describe.each(
  pairsHere.flatMap((pair, i) => {
    const [a, b] = pair;
    const moments = pairsOnPostgres.includes(pair) ? [onPostgres, onLate] : [onLate];
    return [
      // Where not all moments are tried, the pairs differ in which ones are.
      { a, b, moments, first: i },
      { a: b, b: a, moments, first: i + 1 },
    ];
  }),
)("$a, while $b", ({ a, b, moments, first }) => {
  it.each(moments)("keeps all invariants, $when", async ({ ground: { open }, atReads }) => {
    const { clock, engine } = world();
    const ground = open();
    const storage = ground.connect();
    const { storage: own, before } = interrupted(ground.connect(), atReads);
    const [one, two] = [engine(own), engine(storage)];
    const apart = atReads ? pointsApart(3) : 1;
    const begin = first % apart;
    let reached = begin;
    for (let moment = begin; reached === moment && moment < mostMoments; moment += apart) {
      const { account } = await two.accounts.create({ name: "moments" });
      const [mine, theirs] = [one.account(account.id), two.account(account.id)];
      const hello = numbers.map((from) => ({
        from,
        body: from === ann ? "hello kumquat" : "hello",
      }));
      const [x, y, z] = await Promise.all(hello.map((each) => theirs.sandbox.inbound(each)));
      if (x === undefined || y === undefined || z === undefined) throw new Error("three were made");
      const ids = [x.contact_id, y.contact_id, z.contact_id] as const;
      await mine.get();

      const ends: string[] = [];
      before(moment, async () => {
        ends.push(await outcome(acts[b](theirs, ids)));
        reached = moment + apart;
      });
      ends.push(await outcome(acts[a](mine, ids)));

      for (const end of ends) expect(expected, `moment ${moment}`).toContain(end);
      const isMerge = a === "Ann into Bob" || b === "Ann into Bob";
      if (isMerge && (unharmed.has(a) || unharmed.has(b))) {
        expect([moment, ...ends]).toEqual([moment, ...ends.map(() => "done")]);
      }
      await clock.settle();
      await checkContacts(storage, account.id);
      if (a !== "Ann is erased" && b !== "Ann is erased") continue;
      const words = await tablesWith(storage, ["kumquat", ann], account.id);
      const { data } = await theirs.contacts.list({ phone: ann });
      if (data.length === 0) expect([moment, words]).toEqual([moment, []]);
    }
    expect(reached).toBeGreaterThan(begin);
  });
});
