import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { sqlite } from "../../../adapters/storage/sqlite/index.ts";
import { consentByAddress, consentEvidence } from "../../../src/contacts/consent/rows.ts";
import type { ImportContact, ImportReport } from "../../../src/contacts/import/import-types.ts";
import type { MessagingEngine } from "../../../src/engine.ts";
import { world } from "../../support/engines/world.ts";
import { heapInUse } from "../../support/heap.ts";
import { isLong, runsOn } from "../../support/runs.ts";
import { rowsOf } from "../../support/storage/rows.ts";
import { storages } from "../../support/storage/storages.ts";
import { imported } from "../helpers.ts";

const phone = (i: number): string => `+1500${String(i).padStart(7, "0")}`;

const importInto = (
  { contacts }: MessagingEngine,
  rows: Iterable<unknown>,
): Promise<ImportReport[]> => imported(contacts, rows as Iterable<ImportContact>);

const statuses = (reports: readonly ImportReport[]): string[] =>
  reports.map(({ status }) => status);

describe.each(storages)("an import over $name", ({ name: storage, open }) => {
  it("creates new contacts, updates known ones, and reports on the rows in order", async () => {
    const engine = world().engine(open().connect());
    const known = await engine.contacts.create({
      phone: phone(1),
      name: "Ann",
      labels: ["vip"],
      attributes: { a: "1" },
    });
    const reports = await importInto(engine, [
      { phone: phone(1), email: "ann@x.example", attributes: { a: "1" } },
      { phone: phone(2), name: "<b>Bob</b>" },
      { phone: phone(1), name: null },
      { phone: phone(1), labels: ["vip"], attributes: { a: "1" } },
      { phone: phone(2), name: "<b>Bob</b>", email: undefined },
    ]);
    const { data } = await engine.contacts.search({ q: "bob" });
    expect(reports).toEqual(
      [
        ["updated", known.id],
        ["created", data[0]?.id],
        ["updated", known.id],
        ["unchanged", known.id],
        ["unchanged", data[0]?.id],
      ].map(([status, contact_id], index) => ({ index, status, contact_id, errors: [] })),
    );
    expect(data[0]).toMatchObject({ phone: phone(2), name: "<b>Bob</b>" });
    expect(await engine.contacts.get(known.id)).toMatchObject({
      name: null,
      email: "ann@x.example",
      labels: ["vip"],
    });
  });

  it("reports an invalid row field by field and imports the others", async () => {
    const engine = world().engine(open().connect());
    const reports = await importInto(engine, [
      { phone: phone(1) },
      { name: "No phone" },
      { phone: "12", email: "x", attributes: { "": "", town: 7 } },
      "text",
      null,
      { phone: phone(2), nickname: "x" },
      { phone: phone(3) },
    ]);
    expect(statuses(reports)).toEqual([
      "created",
      "failed",
      "failed",
      "failed",
      "failed",
      "failed",
      "created",
    ]);
    const pointers = reports.map(({ errors }) => errors.map(({ pointer }) => pointer));
    expect(pointers.map((each) => each.slice(0, 2))).toEqual([
      [],
      ["/phone"],
      ["/phone", "/email"],
      [""],
      [""],
      ["/nickname"],
      [],
    ]);
    expect((await engine.contacts.list({ limit: 100 })).data).toHaveLength(2);
  });

  it("records consent once; it never lifts an opt-out or opts in a known contact", async () => {
    const { connect } = open();
    const port = connect();
    const engine = world().engine(port);
    const evidence = async () => rowsOf(port, consentEvidence);
    const row = (i: number, status: string, detail?: string) => ({
      phone: phone(i),
      consent: { status, detail },
    });
    const rows = [
      row(1, "opted_out", "list of 2025"),
      row(2, "opted_in"),
      row(3, "opted_in", "form"),
    ];
    expect(statuses(await importInto(engine, rows))).toEqual(["created", "created", "created"]);
    expect(statuses(await importInto(engine, rows))).toEqual([
      "unchanged",
      "unchanged",
      "unchanged",
    ]);
    expect(statuses(await importInto(engine, [row(1, "opted_in"), row(2, "opted_out")]))).toEqual([
      "unchanged",
      "updated",
    ]);
    const told = (await evidence()).map(({ status, source, detail }) => [status, source, detail]);
    expect(told).toHaveLength(4);
    expect(told).toContainEqual(["opted_out", "import", "list of 2025"]);
    const out = (await engine.contacts.list({ opted_out: true })).data.map((each) => each.phone);
    expect(out.map(String).toSorted()).toEqual([phone(1), phone(2)]);
    const all = await port.reader.range({
      index: consentByAddress,
      prefix: [],
      order: "ascending",
      limit: 9,
    });
    expect(all.map(({ status }) => String(status)).toSorted()).toEqual([
      "opted_in",
      "opted_out",
      "opted_out",
    ]);
    const reports = await importInto(engine, [{ phone: phone(4), consent: { status: "unknown" } }]);
    expect(reports[0]?.errors[0]).toMatchObject({ pointer: "/consent/status" });
  });

  it("ends an opt-in to one sender when it records an opt-out", async () => {
    const engine = world().engine(open().connect(), { consent: { scope: "sender" } });
    const { id } = await engine.contacts.create({ phone: phone(1) });
    await engine.contacts.setConsent(id, "text", { status: "opted_out" });
    await engine.sandbox.inbound({ from: phone(1), body: "START" });
    const consent = async () => (await engine.contacts.consents(id)).data[0];
    expect(await consent()).toMatchObject({
      status: "opted_out",
      opted_in_to: [expect.anything()],
    });
    const rows = [{ phone: phone(1), consent: { status: "opted_out", detail: "a letter" } }];
    expect(statuses(await importInto(engine, rows))).toEqual(["updated"]);
    const written = await consent();
    expect(written).toMatchObject({
      status: "opted_out",
      opted_in_to: [],
      evidence: [
        { status: "opted_out", source: "import", sender: null, detail: "a letter" },
        {},
        {},
      ],
    });
    await expect(engine.messages.send({ to: phone(1), body: "Hello" })).rejects.toMatchObject({
      code: "recipient_opted_out",
    });
    expect(statuses(await importInto(engine, rows))).toEqual(["unchanged"]);
    expect(await consent()).toEqual(written);
  });

  it("does not extend an opt-in to one sender to all of them", async () => {
    const engine = world().engine(open().connect(), { consent: { scope: "sender" } });
    const { contact_id } = await engine.sandbox.inbound({ from: phone(1), body: "STOP" });
    await engine.sandbox.inbound({ from: phone(1), body: "START" });
    const consent = async () => (await engine.contacts.consents(contact_id)).data[0];
    const written = await consent();
    expect(written).toMatchObject({ status: "unknown", opted_in_to: [expect.anything()] });
    const rows = [{ phone: phone(1), consent: { status: "opted_in", detail: "a form" } }];
    expect(statuses(await importInto(engine, rows))).toEqual(["unchanged"]);
    expect(await consent()).toEqual(written);
  });

  it("can be cut off and repeated, also concurrently: one contact per number, with the last values", async () => {
    const engine = world().engine(open().connect());
    const rows = fc.array(
      fc.record({ i: fc.nat(40), name: fc.constantFrom("Ann", "Bob", "Zoë") }),
      { maxLength: 200 },
    );
    await fc.assert(
      fc.asyncProperty(rows, fc.nat(200), fc.boolean(), async (people, cut, twice) => {
        const { contacts } = engine.account(
          (await engine.accounts.create({ name: "One" })).account.id,
        );
        const list = people.map(({ i, name }) => ({ phone: phone(i), name }));
        let seen = 0;
        for await (const { status } of contacts.import(list)) {
          expect(status, "Each row is imported.").not.toBe("failed");
          if (++seen > cut) break;
        }
        const whole = async (): Promise<void> => {
          for await (const { status } of contacts.import(list)) {
            expect(status, "Each row is imported.").not.toBe("failed");
          }
        };
        await Promise.all(twice ? [whole(), whole()] : [whole()]);
        if (twice) await whole();
        const last = new Map(list.map(({ phone: number, name }) => [number, name]));
        const { data } = await contacts.list({ limit: 100 });
        expect(data, "Each number has one contact.").toHaveLength(last.size);
        expect(new Map(data.map((each) => [each.phone, each.name]))).toEqual(last);
      }),
      {
        numRuns: runsOn(storage, { memory: 30, SQLite: 10, PostgreSQL: 5 }),
        endOnFailure: storage !== "memory",
      },
    );
  });

  it("throws its source's error and keeps the rows before it", async () => {
    const engine = world().engine(open().connect());
    const broken = function* (): Generator<ImportContact> {
      for (let i = 0; i < 100; i++) yield { phone: phone(i) };
      throw new Error("the file ends here");
    };
    const importing = async (): Promise<void> => {
      for await (const { status } of engine.contacts.import(broken())) {
        expect(status).toBe("created");
      }
    };
    await expect(importing()).rejects.toThrow("the file ends here");
    expect(statuses(await importInto(engine, [{ phone: phone(0) }]))).toEqual(["unchanged"]);
  });
});

describe("a large import", () => {
  it("buffers few rows, yields to other work, and uses constant memory", async () => {
    const total = Number(process.env["TIDINGS_IMPORT_ROWS"] ?? (isLong ? 10_000 : 1_000));
    const folder = mkdtempSync(join(tmpdir(), "tidings-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const engine = world().engine(sqlite({ file: join(folder, "test.db") }));
    await engine.contacts.create({ name: "Somebody" });
    let taken = 0;
    const rows = function* (): Generator<ImportContact> {
      for (; taken < total; taken++) {
        yield { phone: phone(taken), name: `Person ${taken}`, attributes: { town: "Ulm" } };
      }
    };
    let reported = 0;
    let most = 0;
    const heapAt = new Map<number, number>();
    const [early, late] = [2 * (total / 10), total];
    const others: Promise<unknown>[] = [];
    let answered = 0;
    for await (const { status } of engine.contacts.import(rows())) {
      expect(status).toBe("created");
      most = Math.max(most, taken - reported++);
      if (reported % (total / 10) === 0) {
        if (reported === early || reported === late) {
          heapAt.set(reported, heapInUse());
        }
        others.push(engine.contacts.search({ q: "somebody" }).then(() => answered++));
        expect(answered).toBeGreaterThanOrEqual(others.length - 1);
      }
    }
    await Promise.all(others);
    expect(reported).toBe(total);
    expect(most).toBeLessThanOrEqual(128);
    expect((heapAt.get(late) ?? 0) / (heapAt.get(early) ?? 0)).toBeLessThan(1.25);
  });
});
