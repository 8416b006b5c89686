import { contacts, type ContactRow } from "../../../src/contacts/rows.ts";
import type { Breach, Invariant } from "../invariant.ts";
import { knownBy } from "../known.ts";
import { tellingIn } from "../words.ts";

/** Judged by those who search, too, while everything happens. */
export const searchFinds: Invariant = {
  name: "search finds who is there, and nobody who is gone",
  watch(world) {
    /** All that contacts were ever known by. */
    const said = new Set<string>();
    return {
      commit(_engine, writes) {
        for (const write of writes) {
          if (
            write.collection !== contacts ||
            (write.kind !== "insert" && write.kind !== "update")
          ) {
            continue;
          }
          const { name, email, attributes, phone } = write.row as unknown as ContactRow;
          for (const each of tellingIn({ name, email, attributes, phone })) said.add(each);
        }
        return [];
      },
      async end() {
        const breaches: Breach[] = [];
        for (const q of said) {
          const expected = knownBy(world, q).toSorted();
          const answer = await world.clients.ask((engine) =>
            engine.contacts.search({ q, limit: 100 }),
          );
          const found =
            answer.kind === "done"
              ? answer.value.data.map(({ id }) => id).toSorted()
              : [answer.kind];
          if (found.join() === expected.join()) continue;
          const says = `a search for ${q} finds ${found.join(", ")} and not ${expected.join(", ")}`;
          breaches.push({ about: [...found, ...expected], says });
        }
        return breaches;
      },
    };
  },
};
