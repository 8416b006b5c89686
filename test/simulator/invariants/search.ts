import { contacts, identities } from "../../../src/contacts/rows.ts";
import type { Invariant, Violation } from "../invariant.ts";
import { personalDataIn } from "../personal-data.ts";
import { allRows, writtenRows } from "../rows.ts";
import type { World } from "../world.ts";

/** The contacts that a search for `q` must find, by a scan of all committed contacts. */
export function contactsMatching({ database }: Pick<World, "database">, q: string): string[] {
  if (q.startsWith("+")) {
    return allRows(database, identities).flatMap(({ address, contact_id }) =>
      address === q ? [contact_id] : [],
    );
  }
  return allRows(database, contacts).flatMap(({ id, name, email, attributes, merged_into }) => {
    const words = [...personalDataIn({ name, email, attributes })];
    return merged_into === null && words.some((word) => word.startsWith(q)) ? [id] : [];
  });
}

/** Operators also check this law, whenever they search during a history. */
export const searchFinds: Invariant = {
  name: "A search finds every contact that matches, and none that is erased or merged.",
  check(world) {
    /** Every word and number that ever identified a contact. */
    const terms = new Set<string>();
    return {
      commit(_engine, writes) {
        for (const { name, email, attributes, phone } of writtenRows(writes, contacts)) {
          for (const each of personalDataIn({ name, email, attributes, phone })) terms.add(each);
        }
        return [];
      },
      async end() {
        const violations: Violation[] = [];
        for (const q of terms) {
          const expected = contactsMatching(world, q).toSorted();
          const answer = await world.clients.ask((engine) =>
            engine.contacts.search({ q, limit: 100 }),
          );
          const found =
            answer.kind === "done"
              ? answer.value.data.map(({ id }) => id).toSorted()
              : [answer.kind];
          if (found.join() === expected.join()) continue;
          const description = `a search for ${q} finds ${found.join(", ")} instead of ${expected.join(", ")}`;
          violations.push({ about: [...found, ...expected], description });
        }
        return violations;
      },
    };
  },
};
