import type { ImportContact } from "../../../src/contacts/import/import-types.ts";
import type { UpdateContact } from "../../../src/contacts/input-types.ts";
import { contacts, type ContactRow } from "../../../src/contacts/rows.ts";
import { laws } from "../invariant.ts";
import { contactsMatching, searchFinds } from "../invariants/search.ts";
import { personalDataIn } from "../personal-data.ts";
import { allRows } from "../rows.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";
import { labels } from "./inbox-operators.ts";

const zones = ["Europe/Berlin", "Africa/Abidjan", "Asia/Kolkata", "America/New_York"] as const;

/** One of the latest contacts, now and then one that was merged into another. */
function pickContact({ database, dice }: World): ContactRow | undefined {
  const all = allRows(database, contacts).filter(
    ({ merged_into }) => merged_into === null || dice.chance(0.1),
  );
  return dice.pick(all.slice(-8));
}

function details({ words, dice }: World) {
  return {
    name: `Name ${words.next()}`,
    ...(dice.chance(0.4) ? { email: `${words.next()}@example.com` } : {}),
    ...(dice.chance(0.4) ? { attributes: { order: words.next() } } : {}),
    ...(dice.chance(0.4) ? { labels: [dice.pick(labels), words.next()] } : {}),
    ...(dice.chance(0.5) ? { time_zone: dice.pick(zones) } : {}),
  };
}

/** The number of a known contact, or a new one. */
function pickPhone({ phones, dice }: World): string {
  return dice.chance(0.4) ? phones.pick(dice) : phones.drawNew();
}

const creator: Actor = {
  does: "An operator creates a contact.",
  group: "contacts",
  weight: 0.7,
  async act(world) {
    const { dice, operators, phones } = world;
    const number = dice.chance(0.9) ? pickPhone(world) : undefined;
    const input = { ...details(world), ...(number === undefined ? {} : { phone: number }) };
    const answer = await operators.request(
      number === undefined ? "create a contact" : `create a contact with ${number}`,
      "",
      (engine, options) => engine.contacts.create(input, options),
    );
    if (answer.kind === "done" && number !== undefined) phones.add(number);
  },
};

const updater: Actor = {
  does: "An operator changes a contact's details, perhaps its phone number.",
  group: "contacts",
  weight: 0.8,
  async act(world) {
    const { dice, operators, phones } = world;
    const contact = pickContact(world);
    if (contact === undefined) return;
    const { id } = contact;
    const number = dice.chance(0.4) ? (dice.chance(0.3) ? null : pickPhone(world)) : undefined;
    const changes: UpdateContact = {
      ...details(world),
      ...(number === undefined ? {} : { phone: number }),
    };
    const answer = await operators.request(
      `update ${id}: ${JSON.stringify(changes)}`,
      id,
      (engine, options) => engine.contacts.update(id, changes, options),
    );
    if (answer.kind === "done" && typeof number === "string") phones.add(number);
  },
};

const merger: Actor = {
  does: "An operator merges two contacts.",
  group: "contacts",
  weight: 0.7,
  async act(world) {
    const [a, b] = [pickContact(world), pickContact(world)];
    if (a === undefined || b === undefined || a.id === b.id) return;
    const [survivor, other] = [a.id, b.id];
    const answer = await world.operators.request(
      `merge ${other} into ${survivor}`,
      survivor,
      (engine, { idempotencyKey }) =>
        engine.contacts.merge(
          survivor,
          other,
          idempotencyKey === undefined ? {} : { idempotencyKey },
        ),
    );
    if (answer.kind === "done") world.operators.completedMerges.push({ survivor, other });
  },
};

const eraser: Actor = {
  does: "An operator erases a contact, whose number is mostly not used again.",
  group: "contacts",
  weight: 0.6,
  async act(world) {
    const { operators, dice, phones } = world;
    const contact = pickContact(world);
    if (contact === undefined) return;
    const { id } = contact;
    operators.requestedErasures.add(id);
    if (contact.phone !== null && dice.chance(0.7)) phones.remove(contact.phone);
    const answer = await operators.request(`erase ${id}`, id, (engine, { idempotencyKey }) =>
      engine.contacts.erase(id, idempotencyKey === undefined ? {} : { idempotencyKey }),
    );
    if (answer.kind === "done") operators.completedErasures.push(id);
  },
};

const observer: Actor = {
  does: "An operator adds an observation to a contact.",
  group: "contacts",
  weight: 1.2,
  async act(world) {
    const contact = pickContact(world);
    if (contact === undefined) return;
    const { id } = contact;
    const observation = { content: `Likes ${world.words.next()}`, kind: "preference" };
    await world.operators.request(`add an observation to ${id}`, id, (engine, options) =>
      engine.contacts.addObservation(id, observation, options),
    );
  },
};

const consenter: Actor = {
  does: "An operator sets a contact's consent.",
  group: "consent",
  weight: 0.6,
  async act(world) {
    const { dice, words } = world;
    const contact = pickContact(world);
    if (contact === undefined) return;
    const { id } = contact;
    const status = dice.pick(["opted_in", "opted_out"]);
    const medium = dice.pick(["text", "text", "webchat", "all"]);
    const change = { status, detail: `Said ${words.next()}` } as const;
    const text = `set the consent of ${id} for ${medium} to ${status}`;
    await world.operators.request(text, id, (engine, options) =>
      engine.contacts.setConsent(id, medium, change, options),
    );
  },
};

const importer: Actor = {
  does: "An operator imports up to three contacts.",
  group: "contacts",
  weight: 0.4,
  async act(world) {
    const { clients, dice, phones } = world;
    const rows = Array.from({ length: dice.between(1, 3) }, (): ImportContact => {
      const consent = dice.chance(0.3)
        ? { consent: { status: dice.pick(["opted_in", "opted_out"]) } }
        : {};
      return { ...details(world), phone: pickPhone(world), ...consent };
    });
    const answer = await clients.askUntilAnswered(async (engine) => {
      const failed: string[] = [];
      for await (const { status, errors } of engine.contacts.import(rows)) {
        if (status === "failed") failed.push(...errors.map(({ code }) => code));
      }
      return failed;
    });
    if (answer.kind === "done" && answer.value.length > 0) {
      const codes = answer.value.join(", ");
      world.report(laws.noUnexpectedErrors, [], `an import failed: ${codes}`);
    }
    for (const row of rows) phones.add(row.phone);
  },
};

const searcher: Actor = {
  does: "An operator searches for a contact by a word or the beginning of one.",
  group: "contacts",
  weight: 1,
  async act(world) {
    const { database, dice, clients, history } = world;
    const latest = allRows(database, contacts).slice(-8);
    const words = latest.flatMap(({ name, email, attributes }) => [
      ...personalDataIn({ name, email, attributes }),
    ]);
    const word = dice.pick(words);
    if (word === undefined) return;
    const q = dice.chance(0.7) ? word : word.slice(0, -1);
    const before = contactsMatching(world, q);
    const gone = new Set([...history.erased, ...history.merged]);
    const answer = await clients.ask((engine) => engine.contacts.search({ q, limit: 100 }));
    if (answer.kind !== "done") return;
    const found = answer.value.data.map(({ id }) => id as string);
    // A contact must be found only if it matched the whole time.
    const after = new Set(contactsMatching(world, q));
    for (const id of before) {
      if (after.has(id) && !found.includes(id)) {
        world.report(
          searchFinds.name,
          [id],
          `a search for ${q} does not find ${id}, which matches`,
        );
      }
    }
    for (const id of found) {
      if (gone.has(id)) {
        world.report(
          searchFinds.name,
          [id],
          `a search for ${q} finds ${id}, which was erased or merged before`,
        );
      }
    }
  },
};

export const contactOperators: readonly Actor[] = [
  creator,
  updater,
  merger,
  eraser,
  observer,
  consenter,
  importer,
  searcher,
];
