import { contacts, type ContactRow } from "../../../src/contacts/rows.ts";
import type { ImportContact, UpdateContact } from "../../../src/contacts/types.ts";
import { allOf } from "../rows.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";
import { labels } from "./operators.ts";

const zones = ["Europe/Berlin", "Africa/Abidjan", "Asia/Kolkata", "America/New_York"] as const;

/** Of the latest contacts; now and then one that was merged. */
function some({ ground, dice }: World): ContactRow | undefined {
  const all = allOf(ground, contacts).filter(
    ({ merged_into }) => merged_into === null || dice.chance(0.1),
  );
  return dice.pick(all.slice(-8));
}

function facts({ words, dice }: World) {
  return {
    name: `Name ${words.draw()}`,
    ...(dice.chance(0.4) ? { email: `${words.draw()}@example.com` } : {}),
    ...(dice.chance(0.4) ? { attributes: { order: words.draw() } } : {}),
    ...(dice.chance(0.4) ? { labels: [dice.pick(labels), words.draw()] } : {}),
    ...(dice.chance(0.5) ? { time_zone: dice.pick(zones) } : {}),
  };
}

/** One that somebody has already, or that nobody ever had. */
function phone({ people, dice }: World): string {
  return dice.chance(0.4) ? people.some(dice) : people.draw();
}

const creator: Actor = {
  name: "creator",
  part: "contacts",
  weight: 0.7,
  async act(world) {
    const { dice, desk, people } = world;
    const number = dice.chance(0.9) ? phone(world) : undefined;
    const input = { ...facts(world), ...(number === undefined ? {} : { phone: number }) };
    const answer = await desk.run(
      `makes a contact of ${number ?? "a name"}`,
      "",
      (engine, options) => engine.contacts.create(input, options),
    );
    if (answer.kind === "done" && number !== undefined) people.join(number);
  },
};

const updater: Actor = {
  name: "updater",
  part: "contacts",
  weight: 0.8,
  async act(world) {
    const { dice, desk, people } = world;
    const contact = some(world);
    if (contact === undefined) return;
    const { id } = contact;
    const number = dice.chance(0.4) ? (dice.chance(0.3) ? null : phone(world)) : undefined;
    const changes: Omit<UpdateContact, "id"> = {
      ...facts(world),
      ...(number === undefined ? {} : { phone: number }),
    };
    const answer = await desk.run(
      `updates ${id}: ${JSON.stringify(changes)}`,
      id,
      (engine, options) => engine.contacts.update(id, changes, options),
    );
    if (answer.kind === "done" && typeof number === "string") people.join(number);
  },
};

const merger: Actor = {
  name: "merger",
  part: "contacts",
  weight: 0.7,
  async act(world) {
    const [a, b] = [some(world), some(world)];
    if (a === undefined || b === undefined || a.id === b.id) return;
    const [survivor, other] = [a.id, b.id];
    const answer = await world.desk.run(
      `merges ${other} into ${survivor}`,
      survivor,
      (engine, { idempotencyKey }) =>
        engine.contacts.merge(
          survivor,
          other,
          idempotencyKey === undefined ? {} : { idempotencyKey },
        ),
    );
    if (answer.kind === "done") world.desk.merged.push({ survivor, other });
  },
};

const eraser: Actor = {
  name: "eraser",
  part: "contacts",
  weight: 0.6,
  async act(world) {
    const { desk, dice, people } = world;
    const contact = some(world);
    if (contact === undefined) return;
    const { id } = contact;
    desk.erasures.add(id);
    if (contact.phone !== null && dice.chance(0.7)) people.leave(contact.phone);
    const answer = await desk.run(`erases ${id}`, id, (engine, { idempotencyKey }) =>
      engine.contacts.erase(id, idempotencyKey === undefined ? {} : { idempotencyKey }),
    );
    if (answer.kind === "done") desk.erased.push(id);
  },
};

const observer: Actor = {
  name: "observer",
  part: "contacts",
  weight: 0.4,
  async act(world) {
    const contact = some(world);
    if (contact === undefined) return;
    const { id } = contact;
    const seen = { content: `Likes ${world.words.draw()}`, kind: "preference" };
    await world.desk.run(`observes something of ${id}`, id, (engine, options) =>
      engine.contacts.addObservation(id, seen, options),
    );
  },
};

const consenter: Actor = {
  name: "consenter",
  part: "consent",
  weight: 0.6,
  async act(world) {
    const { dice, words } = world;
    const contact = some(world);
    if (contact === undefined) return;
    const { id } = contact;
    const status = dice.pick(["opted_in", "opted_out"]);
    const medium = dice.pick(["text", "text", "webchat", "all"]);
    const change = { status, detail: `Said ${words.draw()}` } as const;
    await world.desk.run(`sets ${id} ${status} of ${medium}`, id, (engine, options) =>
      engine.contacts.setConsent(id, medium, change, options),
    );
  },
};

const importer: Actor = {
  name: "importer",
  part: "contacts",
  weight: 0.4,
  async act(world) {
    const { clients, dice, people } = world;
    const rows = Array.from({ length: dice.between(1, 3) }, (): ImportContact => {
      const consent = dice.chance(0.3)
        ? { consent: { status: dice.pick(["opted_in", "opted_out"]) } }
        : {};
      return { ...facts(world), phone: phone(world), ...consent };
    });
    const answer = await clients.persist(async (engine) => {
      const failed: string[] = [];
      for await (const { status, errors } of engine.contacts.import(rows)) {
        if (status === "failed") failed.push(...errors.map(({ code }) => code));
      }
      return failed;
    });
    if (answer.kind === "done" && answer.value.length > 0) {
      world.accuse("no surprises", [], `an import failed: ${answer.value.join(", ")}`);
    }
    for (const row of rows) people.join(row.phone);
  },
};

export const clerks: readonly Actor[] = [
  creator,
  updater,
  merger,
  eraser,
  observer,
  consenter,
  importer,
];
