import { contacts, identities } from "../../src/contacts/rows.ts";
import { allOf } from "./rows.ts";
import { tellingIn } from "./words.ts";
import type { World } from "./world.ts";

/** The contacts that are known by a word, or by one that begins so, or have the phone number: by a plain look at all that is committed. */
export function knownBy({ ground }: Pick<World, "ground">, q: string): string[] {
  if (q.startsWith("+")) {
    return allOf(ground, identities).flatMap(({ address, contact_id }) =>
      address === q ? [contact_id] : [],
    );
  }
  return allOf(ground, contacts).flatMap(({ id, name, email, attributes, merged_into }) => {
    const words = [...tellingIn({ name, email, attributes })];
    return merged_into === null && words.some((word) => word.startsWith(q)) ? [id] : [];
  });
}
