/** Commands on contacts. Each runs on a small model and on the engine. */
import fc from "fast-check";
import { expect } from "vitest";
import type { ImportReport } from "../../src/contacts/import/import-types.ts";
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import { modelCommands } from "../support/model-commands.ts";
import { outcome } from "../support/outcome.ts";
import { all } from "../support/pages.ts";
import { addressesOf, imported } from "./helpers.ts";

/** A contact of the model. */
export class Person {
  readonly id: string;
  name: string | null;
  phone: string | null;
  readonly addresses: Set<string>;
  /** Its messages, newest last. */
  readonly words: string[] = [];
  /** Words that were only ever its own. */
  readonly marks: string[] = [];
  into: Person | null = null;
  isErased = false;

  constructor(id: string, phone: string | null, name: string | null) {
    this.id = id;
    this.phone = phone;
    this.name = name;
    this.addresses = new Set(phone === null ? [] : [phone]);
    if (name !== null) this.marks.push(name);
  }

  get isSomebody(): boolean {
    return !this.isErased && this.into === null;
  }
}

export class Model {
  readonly people: Person[] = [];
  readonly optedOut = new Set<string>();
  #words = 0;

  owner(phone: string): Person | undefined {
    return this.people.find((person) => person.isSomebody && person.addresses.has(phone));
  }

  /** A new word that is not part of any id: ids contain no `o` and no `u`. */
  word(): string {
    return `ou${++this.#words}uo`;
  }
}

export interface Real {
  readonly account: AccountHandle;
}

type Command = fc.AsyncCommand<Model, Real>;

const numbers = ["+4915112345671", "+4915112345672", "+4915112345673", "+4915112345674"] as const;

async function checkAgreement(
  { people, optedOut }: Model,
  { account: { contacts } }: Real,
): Promise<void> {
  for (const person of people) {
    if (person.isErased) {
      expect(
        await outcome(contacts.get(person.id)),
        `The erased contact ${person.id} is not found.`,
      ).toBe("not_found");
      continue;
    }
    const shown = await contacts.get(person.id);
    const { name, phone, into, addresses, words } = person;
    const opted_out = [...addresses].some((address) => optedOut.has(address));
    expect(shown).toMatchObject({ name, phone, merged_into: into?.id ?? null, opted_out });
    expect(
      addressesOf(shown),
      `Contact ${person.id} has the addresses that the model expects.`,
    ).toEqual([...addresses].toSorted());
    if (!person.isSomebody) continue;
    const heard = await all((page) => contacts.messages(person.id, page));
    const own = heard
      .filter(({ direction }) => direction === "inbound")
      .map(({ body }) => body ?? "");
    expect(own.toSorted(), `Contact ${person.id} has each of its inbound messages once.`).toEqual(
      words.toSorted(),
    );
  }
  const listed = await all((page) => contacts.list(page), 2);
  expect(
    listed.map(({ id }) => id),
    "The list has each contact that is neither merged nor erased, newest first.",
  ).toEqual(
    people
      .flatMap((person) => (person.isSomebody ? [person.id] : []))
      .toSorted()
      .toReversed(),
  );
}

const command = modelCommands(checkAgreement);

const onPerson = (
  name: string,
  nth: number,
  run: (person: Person, model: Model, real: Real) => Promise<void>,
): Command =>
  command(
    `${name}(${nth})`,
    (model, real) => {
      const person = model.people[nth % model.people.length];
      if (person === undefined) throw new Error("nobody is there");
      return run(person, model, real);
    },
    ({ people }) => people.length > 0,
  );

const refusalOf = ({ isErased, into }: Person): string =>
  isErased ? "not_found" : into === null ? "done" : "conflict";

const create = (phone: string | null): Command =>
  command(`create(${String(phone)})`, async (model, { account: { contacts } }) => {
    const name = model.word();
    const asked = contacts.create({ name, ...(phone === null ? {} : { phone }) });
    if (phone !== null && model.owner(phone) !== undefined) {
      expect(
        await outcome(asked),
        "A number that a contact has cannot be given to a new one.",
      ).toBe("conflict");
      return;
    }
    model.people.push(new Person((await asked).id, phone, name));
  });

const rename = (nth: number): Command =>
  onPerson("rename", nth, async (person, model, { account: { contacts } }) => {
    const name = model.word();
    const expected = refusalOf(person);
    expect(
      await outcome(contacts.update(person.id, { name })),
      "A contact can be renamed unless it was erased or merged.",
    ).toBe(expected);
    if (expected === "done") person.name = name;
    person.marks.push(name);
  });

const move = (nth: number, phone: string | null): Command =>
  onPerson(`move(${String(phone)})`, nth, async (person, model, { account: { contacts } }) => {
    const owner = phone === null ? undefined : model.owner(phone);
    const taken = owner !== undefined && owner !== person;
    const expected = refusalOf(person) === "done" && taken ? "conflict" : refusalOf(person);
    expect(
      await outcome(contacts.update(person.id, { phone })),
      "A contact can get a number that nobody else has, unless it was erased or merged.",
    ).toBe(expected);
    if (expected !== "done" || phone === person.phone) return;
    if (owner !== person && person.phone !== null) person.addresses.delete(person.phone);
    if (phone !== null) person.addresses.add(phone);
    person.phone = phone;
  });

const merge = (nth: number, mth: number): Command =>
  onPerson(`merge(${mth})`, nth, async (survivor, { people }, { account: { contacts } }) => {
    const other = people[mth % people.length];
    if (other === undefined) throw new Error("nobody is there");
    const refused = refusalOf(survivor);
    const impossible = other.isErased || other === survivor ? "validation_failed" : undefined;
    const elsewhere = other.into !== null && other.into !== survivor ? "conflict" : undefined;
    const expected = refused === "done" ? (impossible ?? elsewhere ?? "done") : refused;
    expect(
      await outcome(contacts.merge(survivor.id, other.id)),
      "A contact can be merged once, into another one that was neither erased nor merged.",
    ).toBe(expected);
    if (expected !== "done" || other.into !== null) return;
    survivor.name ??= other.name;
    survivor.phone ??= other.phone;
    for (const address of other.addresses) survivor.addresses.add(address);
    survivor.words.push(...other.words.splice(0));
    for (const person of people) if (person.into === other) person.into = survivor;
    Object.assign(other, { into: survivor, name: null, phone: null });
    other.addresses.clear();
  });

const erase = (nth: number): Command =>
  onPerson("erase", nth, async (person, { people }, { account: { contacts } }) => {
    const expected = refusalOf(person);
    expect(
      await outcome(contacts.erase(person.id)),
      "A contact can be erased unless it was erased or merged.",
    ).toBe(expected);
    if (expected !== "done") return;
    person.isErased = true;
    for (const each of people) {
      if (each.into !== person) continue;
      each.isErased = true;
      person.marks.push(...each.marks);
    }
    person.marks.push(...person.words.filter((word) => word !== "STOP" && word !== "START"));
  });

/** Imports twice. The second time changes nothing, unless rows of one contact differ. */
const importContacts = (
  phones: readonly string[],
  status: "opted_in" | "opted_out" | null,
): Command =>
  command(
    `import(${phones.join(", ")}, ${String(status)})`,
    async (model, { account: { contacts } }) => {
      const rows = phones.map((phone) => ({
        phone,
        name: model.word(),
        ...(status === null ? {} : { consent: { status } }),
      }));
      const reports = async (): Promise<ImportReport[]> => imported(contacts, rows);
      const first = await reports();
      for (const [i, { phone, name }] of rows.entries()) {
        const { contact_id = null, status: came } = first[i] ?? {};
        const known = model.owner(phone);
        expect([came, contact_id]).toEqual(
          known === undefined ? ["created", contact_id] : ["updated", known.id],
        );
        const owner = known ?? new Person(contact_id ?? "", phone, null);
        if (known === undefined) model.people.push(owner);
        owner.name = name;
        owner.marks.push(name);
        if (status === "opted_out") model.optedOut.add(phone);
      }
      const owners = phones.map((phone) => model.owner(phone));
      const isOnce = owners.map((owner) => owners.filter((each) => each === owner).length === 1);
      const again = (await reports()).map((each) => each.status);
      expect(
        again,
        "A second import changes nothing, unless several rows are of one contact.",
      ).toEqual(isOnce.map((once) => (once ? "unchanged" : "updated")));
    },
  );

/** An inbound text, or a keyword that opts out or in. */
const inbound = (phone: string, keyword: "STOP" | "START" | null): Command =>
  command(`inbound(${phone}, ${String(keyword)})`, async (model, { account: { sandbox } }) => {
    const body = keyword ?? model.word();
    const { contact_id } = await sandbox.inbound({ from: phone, body });
    const owner = model.owner(phone) ?? new Person(contact_id, phone, null);
    if (!model.people.includes(owner)) model.people.push(owner);
    expect(contact_id, "A message belongs to the contact that has its address.").toBe(owner.id);
    owner.words.push(body);
    if (keyword === "STOP") model.optedOut.add(phone);
    if (keyword === "START") model.optedOut.delete(phone);
  });

const send = (phone: string): Command =>
  command(`send(${phone})`, async (model, { account: { messages } }) => {
    const sent = messages.send({ to: phone, body: model.word() });
    if (model.optedOut.has(phone)) {
      expect(await outcome(sent), "A message to a number that opted out is refused.").toBe(
        "recipient_opted_out",
      );
      return;
    }
    const { contact_id } = await sent;
    const owner = model.owner(phone) ?? new Person(contact_id, phone, null);
    if (!model.people.includes(owner)) model.people.push(owner);
    expect(contact_id, "A message belongs to the contact that has its address.").toBe(owner.id);
  });

const nth = fc.nat(20);
const number = fc.constantFrom(...numbers);
const maybe = fc.option(number, { freq: 3 });

export const contactCommands = fc.commands<Model, Real, false>(
  [
    maybe.map(create),
    nth.map(rename),
    fc.tuple(nth, maybe).map(([person, phone]) => move(person, phone)),
    fc.tuple(nth, nth).map(([survivor, other]) => merge(survivor, other)),
    fc.tuple(nth, nth).map(([survivor, other]) => merge(survivor, other)),
    nth.map(erase),
    fc
      .tuple(number, fc.constantFrom("STOP", "START", null, null, null))
      .map(([phone, word]) => inbound(phone, word)),
    number.map(send),
    fc
      .tuple(
        fc.array(number, { minLength: 1, maxLength: 3 }),
        fc.constantFrom("opted_in", "opted_out", null, null),
      )
      .map(([phones, status]) => importContacts(phones, status)),
  ],
  { size: "large", maxCommands: 30 },
);
