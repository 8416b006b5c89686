import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ListContacts } from "../../src/contacts/input-types.ts";
import { world } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { over } from "../support/over.ts";
import { all, everyEvent } from "../support/pages.ts";
import { runsOn } from "../support/runs.ts";
import { tablesWith } from "../support/storage/rows.ts";
import { lightStorages } from "../support/storage/storages.ts";
import { addressesOf } from "./helpers.ts";

const [ann, bob] = ["+4915112345671", "+4915112345672"] as const;

describe.each(lightStorages)("contacts on $name", ({ name: storage, open }) => {
  const numRuns = runsOn(storage, { memory: 60, SQLite: 20, PostgreSQL: 5 });

  it("are returned as created, including script and markup", async () => {
    const { engine } = world();
    const { contacts } = engine(open().connect());
    const facts = {
      name: '<script>alert("1")</script>\r\n\u001B[31m',
      email: "o'hara+tag@example.org",
      time_zone: "America/Argentina/Buenos_Aires",
      language: "sr-Latn-RS",
      labels: ["<b>", "été"],
      attributes: { "a.b": "'; DROP TABLE contacts; --", constructor: "x" },
    };
    const made = await contacts.create({ phone: ann, ...facts });
    expect(made).toMatchObject({
      ...facts,
      phone: ann,
      identities: [{ medium: "text", address: ann }],
      opted_out: false,
    });
    expect(made).toMatchObject({ sentiment: null, merged_into: null, last_message_at: null });
    expect(await contacts.get(made.id)).toEqual(made);
    expect((await contacts.list()).data).toEqual([made]);
  });

  it("are rejected with all errors at once", async () => {
    const { engine } = world();
    const { contacts } = engine(open().connect());
    const wrong = {
      phone: "0151",
      email: "nobody",
      time_zone: "Mars/Olympus",
      language: "e_n",
      labels: ["a", "a"],
      attributes: { "": "x" },
      name: " ",
    };
    const error = await contacts.create(wrong).catch((each: unknown) => each);
    const { errors } = error as { errors: { pointer: string }[] };
    expect(errors.map(({ pointer }) => pointer.slice(1).split("/", 1).join("")).toSorted()).toEqual(
      Object.keys(wrong).toSorted(),
    );
    expect(await outcome(contacts.create({ attributes: { a: "b" } }))).toBe("validation_failed");
    for (const time_zone of ["+01:00", "", "europe"]) {
      expect(await outcome(contacts.create({ name: "x", time_zone }))).toBe("validation_failed");
    }
  });

  it("have unique phone numbers, also in races; the conflict names the owner", async () => {
    const { engine } = world();
    const ground = open();
    const engines = [engine(ground.connect()), engine(ground.connect())];
    const [one] = engines;
    if (one === undefined) throw new Error("two were made");
    const asked = Array.from({ length: 20 }, (_, i) =>
      (engines[i % 2] ?? one).contacts.create({ phone: ann, name: `${i}` }),
    );
    const results = await Promise.allSettled(asked);
    const made = results.flatMap((each) => (each.status === "fulfilled" ? [each.value.id] : []));
    expect(made).toHaveLength(1);
    for (const each of results) {
      if (each.status === "rejected") {
        expect(each.reason).toMatchObject({ code: "conflict", conflictingId: made[0] });
      }
    }
    expect((await one.contacts.list()).data).toHaveLength(1);
  });

  it("change only in the given fields, with an event", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { contacts } = one;
    const made = await contacts.create({
      phone: ann,
      name: "Ann",
      email: "ann@example.org",
      labels: ["a", "b"],
    });
    await clock.advance(1_000);
    const changed = await contacts.update(made.id, {
      name: null,
      labels: ["b", "c"],
      time_zone: "Asia/Tokyo",
    });
    const updated_at = new Date(clock.now()).toISOString();
    const expected = {
      ...made,
      name: null,
      labels: ["b", "c"],
      time_zone: "Asia/Tokyo",
      updated_at,
    };
    expect(changed).toEqual(expected);
    for (const [label, found] of [
      ["a", 0],
      ["b", 1],
      ["c", 1],
    ] as const) {
      expect((await contacts.list({ label })).data).toHaveLength(found);
    }
    await clock.advance(1_000);
    for (const same of [{}, { name: null, labels: ["b", "c"], time_zone: "Asia/Tokyo" }]) {
      expect(await contacts.update(made.id, same), "nothing changes").toEqual(changed);
    }
    const events = (await everyEvent(one)).map(({ type, data }) => ({ type, data }));
    expect(events).toEqual([
      { type: "contact.created", data: { contact: made } },
      { type: "contact.updated", data: { contact: changed } },
    ]);
  });

  it("can change their number; the old one becomes free, and consent stays with the number", async () => {
    const { engine } = world();
    const { contacts, sandbox, messages } = engine(open().connect());
    const { contact_id: id } = await sandbox.inbound({ from: ann, body: "STOP" });
    expect(await contacts.get(id)).toMatchObject({ opted_out: true });
    const moved = await contacts.update(id, { phone: bob });
    expect(addressesOf(moved)).toEqual([bob]);
    expect(moved).toMatchObject({ phone: bob, opted_out: false });
    expect(await messages.send({ to: id, body: "hello" })).toMatchObject({
      to: bob,
      contact_id: id,
    });

    const { contact_id: newcomer } = await sandbox.inbound({ from: ann, body: "who is this?" });
    expect(newcomer).not.toBe(id);
    expect(await contacts.get(newcomer)).toMatchObject({ phone: ann, opted_out: true });
    await expect(contacts.update(id, { phone: ann })).rejects.toMatchObject({
      code: "conflict",
      conflictingId: newcomer,
      errors: [{ pointer: "/phone" }],
    });
    expect(addressesOf(await contacts.update(id, { phone: null }))).toEqual([]);
    expect(await outcome(messages.send({ to: id, body: "anybody there?" }))).toBe(
      "validation_failed",
    );
  });

  it("that were merged keep both numbers when the primary one changes", async () => {
    const { engine } = world();
    const { contacts, messages } = engine(open().connect());
    const [one, other] = [
      await contacts.create({ phone: ann }),
      await contacts.create({ phone: bob }),
    ];
    await contacts.merge(one.id, other.id);
    const changed = await contacts.update(one.id, { phone: bob });
    expect(changed.phone).toBe(bob);
    expect(await messages.send({ to: one.id, body: "hello" })).toMatchObject({ to: bob });
    expect(addressesOf(changed)).toEqual([ann, bob]);
  });

  it("keep the time of their last message when an earlier conversation is closed after it", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const { id: session, contact_id: id } = await one.webchat.open();
    await one.contacts.update(id, { phone: "+4915112345678" });
    const text = await one.sandbox.inbound({ from: "+4915112345678", body: "Hello" });
    await clock.advance(60_000);
    const last = await one.webchat.sendAsVisitor(session, { body: "Are you there?" });
    const { data } = await one.conversations.list({ channel: "webchat" });
    await one.conversations.update(data[0]?.id ?? "", { status: "closed" });
    await one.conversations.open({ to: id, medium: "webchat" });
    await one.conversations.update(text.conversation_id, { status: "closed" });
    expect((await one.contacts.get(id)).last_message_at).toBe(last.created_at);
  });

  it("are listed once that have opted out at several numbers", async () => {
    const { engine } = world();
    const { contacts, sandbox } = engine(open().connect());
    const [first, other] = await Promise.all(
      [ann, bob].map((from) => sandbox.inbound({ from, body: "STOP" })),
    );
    const id = first?.contact_id ?? "";
    await contacts.merge(id, other?.contact_id ?? "");
    for (const limit of [1, 2, 3]) {
      const listed = await all((page) => contacts.list({ opted_out: true, ...page }), limit);
      expect([limit, listed.map((contact) => contact.id)]).toEqual([limit, [id]]);
    }
  });

  it("are listed newest first with all filters, without repeats or gaps", async () => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    const person = fc.record({
      labels: fc.subarray(["a", "b"]),
      out: fc.boolean(),
      twice: fc.boolean(),
      merged: fc.boolean(),
    });
    const filters = fc.record(
      {
        label: fc.constantFrom("a", "b"),
        opted_out: fc.boolean(),
        nth: fc.nat(5),
        since: fc.nat(8),
        until: fc.nat(8),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(person, { maxLength: 8 }),
        fc.array(filters, { minLength: 3, maxLength: 6 }),
        fc.integer({ min: 1, max: 3 }),
        async (people, asked, limit) => {
          const { account } = await one.accounts.create({ name: "lists" });
          const { contacts, sandbox } = one.account(account.id);
          const numbers: string[] = [];
          for (const [i, { labels, out, twice, merged }] of people.entries()) {
            await clock.advance(1_000);
            const numbersOf = [`+49151${1_000 + i}`, ...(twice ? [`+49152${1_000 + i}`] : [])];
            const [phone = "", second] = numbersOf;
            const { id } = await contacts.create({ phone, labels });
            const other =
              second === undefined ? undefined : await contacts.create({ phone: second });
            if (out) for (const from of numbersOf) await sandbox.inbound({ from, body: "STOP" });
            if (other !== undefined && merged) await contacts.merge(id, other.id);
            numbers.push(phone);
          }
          const everybody = await all((page) => contacts.list(page));
          expect(everybody.map(({ id }) => id)).toEqual(
            everybody
              .map(({ id }) => id)
              .toSorted()
              .toReversed(),
          );
          const timeOf = (i: number | undefined) =>
            everybody[Math.min(i ?? 0, everybody.length - 1)]?.created_at;
          for (const { label, opted_out, nth, since, until } of asked) {
            const [phone, after, before] = [
              nth && numbers[nth],
              since && timeOf(since),
              until && timeOf(until),
            ];
            const query: ListContacts = {
              ...(label === undefined ? {} : { label }),
              ...(opted_out === undefined ? {} : { opted_out }),
              ...(phone ? { phone } : {}),
              ...(after ? { created_after: after } : {}),
              ...(before ? { created_before: before } : {}),
            };
            const expected = everybody.filter(
              (contact) =>
                (label === undefined || contact.labels.includes(label)) &&
                (opted_out === undefined || contact.opted_out === opted_out) &&
                (!phone || addressesOf(contact).includes(phone)) &&
                (!after || contact.created_at > after) &&
                (!before || contact.created_at < before),
            );
            expect(await all((page) => contacts.list({ ...query, ...page }), limit)).toEqual(
              expected,
            );
          }
        },
      ),
      { numRuns },
    );
  });

  it("are listed by created_at, also while ids are drawn some time after it", async () => {
    const { clock, engine } = world();
    let ticks = 0;
    // Time passes within each command, so each contact is created before its id is drawn.
    const now = (): number => clock.now() + 7 * ticks++;
    const { contacts } = engine(open().connect(), { clock: over(clock, { now }) });
    const made: string[] = [];
    for (const name of ["Ann", "Bob", "Cid"]) {
      made.unshift((await contacts.create({ name, labels: ["vip"] })).created_at);
    }
    for (const time of made) {
      const next = new Date(Date.parse(time) + 1).toISOString();
      for (const also of [{}, { label: "vip" }]) {
        const later = await all((page) => contacts.list({ created_after: time, ...also, ...page }));
        expect(later.map((each) => each.created_at)).toEqual(made.filter((each) => each > time));
        const until = await all((page) =>
          contacts.list({ created_before: next, ...also, ...page }),
        );
        expect(until.map((each) => each.created_at)).toEqual(made.filter((each) => each <= time));
      }
    }
  });

  it("have observations until these expire or are removed", async () => {
    const { clock, engine } = world();
    const { contacts } = engine(open().connect());
    const { id } = await contacts.create({ phone: ann });
    const { id: stranger } = await contacts.create({ phone: bob });
    const expires_at = new Date(clock.now() + 60_000).toISOString();
    const noticed = await contacts.addObservation(id, { content: "likes tea", kind: "taste" });
    const passing = { content: "in a hurry", kind: "mood", expires_at };
    const brief = await contacts.addObservation(id, passing);
    expect((await contacts.observations(id)).data).toEqual([brief, noticed]);
    await clock.advance(60_000);
    expect((await contacts.observations(id)).data).toEqual([noticed]);
    expect(await outcome(contacts.addObservation(id, passing))).toBe("validation_failed");

    expect(await outcome(contacts.removeObservation(stranger, noticed.id))).toBe("not_found");
    await contacts.removeObservation(id, noticed.id);
    expect((await contacts.observations(id)).data).toEqual([]);
    expect(await outcome(contacts.removeObservation(id, noticed.id))).toBe("not_found");
  });

  it("take only their own messages and conversations as evidence of an observation", async () => {
    const { contacts, sandbox } = world().engine(open().connect());
    const { id, contact_id, conversation_id } = await sandbox.inbound({ from: ann, body: "Tea!" });
    const observation = { content: "likes tea", kind: "taste" };
    const given = {
      ...observation,
      source: "human",
      confidence: 0.9,
      conversation_id,
      evidence_message_ids: [id],
    } as const;
    const noticed = await contacts.addObservation(contact_id, given);
    expect(noticed).toMatchObject({ ...given, contact_id, expires_at: null });
    expect(await contacts.addObservation(contact_id, observation)).toMatchObject({
      source: "api",
      confidence: null,
      conversation_id: null,
      evidence_message_ids: [],
    });
    const { id: stranger } = await contacts.create({ phone: bob });
    const foreign = { ...observation, conversation_id, evidence_message_ids: [id, "msg_x"] };
    await expect(contacts.addObservation(stranger, foreign)).rejects.toMatchObject({
      code: "validation_failed",
      errors: [
        { pointer: "/conversation_id" },
        { pointer: "/evidence_message_ids/0" },
        { pointer: "/evidence_message_ids/1" },
      ],
    });
  });

  it.each(["expired", "removed"])("lose %s observations, also in stored responses", async (how) => {
    const { clock, started } = world();
    const port = open().connect();
    const one = await started(port);
    const { id } = await one.contacts.create({ name: "Ann" });
    const expires_at = new Date(clock.now() + 60_000).toISOString();
    await one.contacts.addObservation(id, { content: "likes kumquats", kind: "taste" });
    const brief = { content: "in a hurry", kind: "mood", expires_at };
    const key = { idempotencyKey: "brief" };
    const { id: observation_id } = await one.contacts.addObservation(id, brief, key);
    expect(await tablesWith(port, ["hurry"])).toEqual([
      "idempotency_keys: hurry",
      "observations: hurry",
    ]);
    if (how === "removed") await one.contacts.removeObservation(id, observation_id);
    else await clock.advance(1_200_000);
    expect(await tablesWith(port, ["hurry", "kumquats"])).toEqual(["observations: kumquats"]);
    expect(await outcome(one.contacts.addObservation(id, brief, key))).toBe("erased");
  });
});
