import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CreateContact, SearchContacts } from "../../../src/contacts/input-types.ts";
import type { Contact } from "../../../src/contacts/types.ts";
import type { Contacts } from "../../../src/host/handles/contact-handles.ts";
import type { Search } from "../../../src/ports/storage.ts";
import { world } from "../../support/engines/world.ts";
import { over } from "../../support/over.ts";
import { cases, isLong, longTest, runsOn } from "../../support/runs.ts";
import { storages, type StorageCase } from "../../support/storage/storages.ts";

const names = [
  "Ann",
  "Anna",
  "Annabel",
  "Zoë",
  "ZOE",
  "Bo",
  "Bob",
  "O'Neil",
  "東京",
  "Ōe",
  "Straße",
  "4711",
];
const some = <T>(from: readonly T[], most: number): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(...from), { minLength: 1, maxLength: most })
    .map((list) => list.join(" "));
const person: fc.Arbitrary<CreateContact> = fc
  .record(
    {
      name: some(names, 3),
      email: fc.constantFrom("ann@bob.example", "zoe.bo@anna.example", "o.neil@x.example"),
      attributes: fc.dictionary(fc.constantFrom("town", "pet"), some(names, 2), { maxKeys: 2 }),
      labels: fc.uniqueArray(fc.constantFrom("vip", "new")),
    },
    { requiredKeys: [] },
  )
  .map((facts) => ({ ...facts, attributes: { ...facts.attributes } }));
const query = fc.oneof(
  some([...names, "an", "a", "z", "oe", "strasse", "bob.example", "exam", "ANN", "neil"], 3),
  fc.constantFrom(
    "+1 (500) 555",
    "150055500",
    "15005550012",
    "+15005550007",
    "555",
    "4711",
    "1500 anna",
    "…",
    "+1-500",
    "(+1) 500-555",
    // Copied from an address book, which adds marks of direction.
    "\u202a+1 (500) 555-0012\u202c",
    "+1\u2060500555\u200b",
  ),
);

type Filters = Omit<SearchContacts, "q" | "limit">;
const filters: fc.Arbitrary<Filters> = fc.record(
  { label: fc.constantFrom("vip", "new", "none"), opted_out: fc.boolean() },
  { requiredKeys: [] },
);

const pageSize = 100;

/** The specified search, as a scan of all contacts. */
function expectedMatches(contacts: readonly Contact[], q: string): string[] {
  const plain = (text: string): string[] =>
    text
      .toUpperCase()
      .normalize("NFKD")
      .toLowerCase()
      .split(/[^\p{L}\p{N}\p{M}]+/u)
      .map((word) => word.replaceAll(/\p{M}/gu, ""))
      .filter((word) => word !== "");
  const words = [...new Set(plain(q))];
  const visible = q.replaceAll(/\p{Cf}/gu, "");
  const digits = /^[+\d() -]+$/.test(visible) ? visible.replaceAll(/\D/g, "") : "";
  const scored = contacts.flatMap((contact) => {
    const { name, email, attributes, phone } = contact;
    const said = [
      ...plain(name ?? "").map((word) => ({ word, weight: 3 })),
      ...plain(email ?? "").map((word) => ({ word, weight: 2 })),
      ...Object.values(attributes).flatMap((value) =>
        plain(value).map((word) => ({ word, weight: 1 })),
      ),
    ];
    if (said.length > 0 && phone !== null) said.push({ word: phone.slice(1), weight: 2 });
    const best = (passes: (word: string) => boolean): number =>
      Math.max(0, ...said.filter(({ word }) => passes(word)).map(({ weight }) => weight));
    const hits = words.map((word) => {
      const whole = best((each) => each === word);
      return {
        whole: whole > 0,
        weight: whole > 0 ? whole : best((each) => each.startsWith(word)),
      };
    });
    const ways = [];
    if (hits.length > 0 && hits.every(({ weight }) => weight > 0)) {
      const weight = hits.reduce((sum, hit) => sum + hit.weight, 0);
      ways.push({ whole: hits.filter((hit) => hit.whole).length, weight });
    }
    for (const { address } of contact.identities) {
      if (digits.length < 3 || !address.startsWith(`+${digits}`)) continue;
      ways.push({ whole: address === `+${digits}` ? words.length : 0, weight: 2 * words.length });
    }
    const [fit] = ways.toSorted((a, b) => b.whole - a.whole || b.weight - a.weight);
    return fit === undefined ? [] : [{ id: contact.id, ...fit }];
  });
  const sorted = scored.toSorted(
    (a, b) => b.whole - a.whole || b.weight - a.weight || (a.id < b.id ? 1 : -1),
  );
  return sorted.map(({ id }) => id);
}

const idsOf = ({ data }: { readonly data: readonly Contact[] }): string[] =>
  data.map(({ id }) => id);

async function made(contacts: Contacts, facts: readonly CreateContact[]): Promise<string[]> {
  const all = await Promise.all(facts.map((each) => contacts.create(each)));
  return all.map(({ id }) => id);
}

describe.each(storages)("search over $name", ({ name, open }: StorageCase) => {
  /** What does not depend on the storage. See `lightStorages`. */
  const isTried = isLong || name === "SQLite";

  it("returns the same as a scan of all contacts, after changes, merges and erasures", async () => {
    const engine = world().engine(open().connect());
    const rounds = runsOn(name, { memory: 40, SQLite: 20, PostgreSQL: 8 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(person, { minLength: 1, maxLength: 30 }),
        fc.array(fc.tuple(query, filters), { minLength: 1, maxLength: 25 }),
        async (people, queries) => {
          const { contacts } = engine.account(
            (await engine.accounts.create({ name: "One" })).account.id,
          );
          const phoned = people.map((each, i) => ({
            ...each,
            phone: `+1500555${String(i).padStart(4, "0")}`,
          }));
          const [first, second, third, fourth, ...left] = await made(contacts, phoned);
          if (first !== undefined && second !== undefined) await contacts.merge(first, second);
          if (third !== undefined) await contacts.erase(third);
          if (fourth !== undefined) {
            await contacts.update(fourth, { name: "Annabel Straße", attributes: {} });
          }
          for (const id of left.filter((_, i) => i % 3 === 0)) {
            await contacts.setConsent(id, "text", { status: "opted_out" });
          }
          const { data: all } = await contacts.list({ limit: pageSize });
          for (const [q, wanted] of queries) {
            const { label, opted_out } = wanted;
            const passing = all.filter(
              (each) =>
                (label === undefined || each.labels.includes(label)) &&
                (opted_out === undefined || each.opted_out === opted_out),
            );
            const found = await contacts.search({ q, limit: pageSize, ...wanted });
            expect(idsOf(found), q).toEqual(expectedMatches(passing, q));
            expect(found.data).toEqual(
              idsOf(found).map((id) => all.find((each) => each.id === id)),
            );
            const top = await contacts.search({ q, limit: 2, ...wanted });
            expect(top).toEqual({
              data: found.data.slice(0, 2),
              has_more: found.data.length > 2,
              next_cursor: null,
            });
          }
        },
      ),
      { numRuns: rounds, endOnFailure: name !== "memory" },
    );
  });

  it.runIf(isTried)(
    "finds contacts of a time, and old ones that passed a filter behind many that did not",
    async () => {
      const host = world();
      const { contacts } = host.engine(open().connect());
      const labels = ["vip"];
      const old = await contacts.create({ name: "Ann", phone: "+15005550001", labels });
      await contacts.setConsent(old.id, "text", { status: "opted_out" });
      await host.clock.advance(1_000);
      const people = function* (): Generator<{ phone: string; name: string }> {
        for (let i = 0; i < 300; i++) yield { phone: `+1500556${1_000 + i}`, name: "Ann" };
      };
      for await (const { status } of contacts.import(people())) expect(status).toBe("created");
      const first = { data: [{ id: old.id }], has_more: false, next_cursor: null };
      const { created_at } = old;
      const later = new Date(Date.parse(created_at) + 1).toISOString();
      for (const filter of [{ label: "vip" }, { opted_out: true }, { created_before: later }]) {
        const found = await contacts.search({ q: "ann", limit: 1, ...filter });
        expect(found, JSON.stringify(filter)).toMatchObject(first);
      }
      const after = await contacts.search({ q: "ann", limit: 100, created_after: created_at });
      expect([after.data.length, after.has_more]).toEqual([100, true]);
      expect(idsOf(after)).not.toContain(old.id);
    },
  );

  it.runIf(isTried)(
    "finds the contact that passes a filter behind hundreds of other numbers without names",
    async () => {
      const { contacts } = world().engine(open().connect());
      const numbers = Array.from({ length: 300 }, (_, i) => `+1500556${1_000 + i}`);
      const people = numbers.map((phone) => ({ phone }));
      for await (const { status } of contacts.import(people)) expect(status).toBe("created");
      const { data } = await contacts.list({ phone: numbers.at(-1) });
      for (const { id } of data) await contacts.setConsent(id, "text", { status: "opted_out" });
      const found = await contacts.search({ q: "+1 500 556", opted_out: true });
      expect(idsOf(found)).toEqual(idsOf({ data }));
    },
  );

  it("returns values unchanged, and treats every query as plain words", async () => {
    const engine = world().engine(open().connect());
    const name = `<script>alert("O'Neil")</script> \\ * & | ! :* %_`;
    const { id } = await engine.contacts.create({ name, attributes: { note: "<b>NEAR(x)</b>" } });
    for (const q of [
      "<script>",
      `alert("`,
      `O'Neil"`,
      "near(x",
      "x AND script",
      `script" OR "x`,
      "o:* neil",
      "<b>",
    ]) {
      const { data } = await engine.contacts.search({ q });
      const finds = !/AND|OR/.test(q);
      expect(
        data.map((each) => [each.id, each.name]),
        q,
      ).toEqual(finds ? [[id, name]] : []);
    }
    for (const q of ["'", '"', "*", "\\", "()", "!!", "-"]) {
      expect(idsOf(await engine.contacts.search({ q }))).toEqual([]);
    }
    await expect(engine.contacts.search({ q: "" })).rejects.toMatchObject({
      code: "validation_failed",
    });
    await expect(engine.contacts.search({ q: "x".repeat(201) })).rejects.toMatchObject({
      code: "validation_failed",
    });
  });

  it("finds only contacts of its account and mode, and no merged or erased ones", async () => {
    const engine = world().engine(open().connect());
    const { account } = await engine.accounts.create({ name: "Others" });
    const others = engine.account(account.id);
    const live = engine.account(undefined, { mode: "live" });
    const here = await engine.contacts.create({ name: "Ann Smith", phone: "+15005550001" });
    const there = await others.contacts.create({ name: "Ann Smith", phone: "+15005550001" });
    const alive = await live.contacts.create({ name: "Ann Smith", phone: "+15005550001" });
    const of = async (handle: typeof live, q: string): Promise<string[]> =>
      idsOf(await handle.contacts.search({ q }));
    for (const q of ["ann", "an", "150055"]) {
      expect([await of(engine.account(), q), await of(others, q), await of(live, q)]).toEqual([
        [here.id],
        [there.id],
        [alive.id],
      ]);
    }
    const other = await engine.contacts.create({ name: "Annabel", phone: "+15005550002" });
    await engine.contacts.merge(here.id, other.id);
    expect(await of(engine.account(), "annabel")).toEqual([]);
    expect(await of(engine.account(), "+15005550002")).toEqual([here.id]);
    await engine.contacts.erase(here.id);
    for (const q of ["ann", "15005550002", "smith"]) {
      expect(await of(engine.account(), q)).toEqual([]);
    }
    await expect(of(others, "smith")).resolves.toEqual([there.id]);
  });

  it.runIf(isTried)(
    "of a prefix that too many have still ranks old whole-word matches first",
    async () => {
      const engine = world().engine(open().connect());
      const { id } = await engine.contacts.create({ name: "Every" });
      const people = function* (): Generator<{ phone: string; name: string }> {
        for (let i = 0; i < 1_500; i++) {
          yield { phone: `+1500${String(i).padStart(7, "0")}`, name: `Everyone N${i}` };
        }
      };
      for await (const { status } of engine.contacts.import(people())) {
        expect(status).toBe("created");
      }
      const { data, has_more } = await engine.contacts.search({ q: "every", limit: 3 });
      expect([data[0]?.id, data.length, has_more]).toEqual([id, 3, true]);
    },
  );
});

// What is asked of a storage is the same for each of them.
describe.each(cases(storages, ({ name }) => name === "SQLite"))("search over $name", ({ open }) => {
  longTest(
    "of a word that thousands have reads a bounded number of rows and ranks whole words first",
    async () => {
      const { connect } = open();
      const storage = connect();
      const asked: { readonly search: Search; readonly rows: number }[] = [];
      const reader = over(storage.reader, {
        async search(searches) {
          const found = await storage.reader.search(searches);
          for (const [i, search] of searches.entries()) {
            asked.push({ search, rows: found[i]?.length ?? 0 });
          }
          return found;
        },
      });
      const engine = world().engine(over(storage, { reader }));
      const people = function* (): Generator<{ phone: string; name: string }> {
        for (let i = 0; i < 8_000; i++) {
          yield { phone: `+1500${String(i).padStart(7, "0")}`, name: `Everybody N${i}` };
        }
      };
      for await (const { status } of engine.contacts.import(people())) {
        expect(status).toBe("created");
      }
      const whole = await engine.contacts.search({ q: "everybody", limit: 100 });
      expect([whole.data.length, whole.has_more]).toEqual([100, true]);
      const begun = await engine.contacts.search({ q: "every", limit: 100 });
      expect([begun.data.length, begun.has_more]).toEqual([100, true]);
      expect(Math.max(...asked.map(({ rows }) => rows))).toBeLessThanOrEqual(1_000);
      // The search read only a sample of them.
      const inAll = asked.filter(({ search }) => search.words.some(({ word }) => word[10] === "0"));
      expect(inAll.map(({ rows }) => rows)).toEqual(inAll.map(() => 0));
      asked.length = 0;
      expect(idsOf(await engine.contacts.search({ q: "everybody n4711" }))).toHaveLength(1);
      expect(idsOf(await engine.contacts.search({ q: "every n150", limit: 100 }))).toHaveLength(11);
      // The search avoids the frequent prefix and asks the storage for the other words.
      const gathered = asked.flatMap(({ search }) => search.words.filter(({ prefix }) => prefix));
      expect(gathered.filter(({ word }) => /0every/.test(word))).toEqual([]);
      const { id } = await engine.contacts.create({ name: "Every" });
      expect(idsOf(await engine.contacts.search({ q: "every", limit: 3 }))[0]).toBe(id);
    },
  );
});
