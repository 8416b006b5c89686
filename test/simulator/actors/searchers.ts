import { contacts } from "../../../src/contacts/rows.ts";
import { searchFinds } from "../invariants/search.ts";
import { knownBy } from "../known.ts";
import { allOf } from "../rows.ts";
import { tellingIn } from "../words.ts";
import type { Actor } from "./actor.ts";

/** Looks for somebody by a word, or by how one begins: who has it all the while is found, and nobody who was gone before. */
const searcher: Actor = {
  name: "searcher",
  part: "contacts",
  weight: 1,
  async act(world) {
    const { ground, dice, clients, registry } = world;
    const known = allOf(ground, contacts).slice(-8);
    const words = known.flatMap(({ name, email, attributes }) => [
      ...tellingIn({ name, email, attributes }),
    ]);
    const word = dice.pick(words);
    if (word === undefined) return;
    const q = dice.chance(0.7) ? word : word.slice(0, -1);
    const before = knownBy(world, q);
    const gone = new Set([...registry.erased, ...registry.merged]);
    const answer = await clients.ask((engine) => engine.contacts.search({ q, limit: 100 }));
    if (answer.kind !== "done") return;
    const found = answer.value.data.map(({ id }) => id as string);
    const after = new Set(knownBy(world, q));
    for (const id of before) {
      if (after.has(id) && !found.includes(id)) {
        world.accuse(
          searchFinds.name,
          [id],
          `${id} is known by ${q}, and a search for it doesn't find it`,
        );
      }
    }
    for (const id of found) {
      if (gone.has(id)) {
        world.accuse(
          searchFinds.name,
          [id],
          `a search for ${q} finds ${id}, which was gone before`,
        );
      }
    }
  },
};

export const searchers: readonly Actor[] = [searcher];
