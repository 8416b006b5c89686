import { contactById } from "./rows.ts";
import type { Contact } from "./types.ts";
import { type ById, byIdSchema, notFound } from "../kernel/index.ts";
import type { Query } from "../operations/index.ts";
import { showContacts } from "./show.ts";

/** One that was merged is answered with a pointer to who it is now, and nothing else. */
export const getContact: Query<ById, Contact> = {
  kind: "query",
  name: "contacts.get",
  input: () => byIdSchema,
  async run(reads, { id }, { services }) {
    const row = await reads.get(contactById, [id]);
    const [contact] = row === undefined ? [] : await showContacts(reads, [row], services);
    if (contact === undefined) throw notFound("contact");
    return contact;
  },
};
