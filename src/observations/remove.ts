import { observationById, observations } from "./rows.ts";
import { type RemoveObservation, removeObservationSchema } from "./types.ts";
import { notFound } from "../kernel/index.ts";
import { type Command, eraseAnswers } from "../operations/index.ts";
import { contactToRead } from "../contacts/index.ts";

/** Takes an observation back: it is gone, also from what was answered when it was made. */
export const removeObservation: Command<RemoveObservation, void> = {
  kind: "command",
  name: "contacts.forget",
  input: () => removeObservationSchema,
  status: 204,
  async run(tx, { id, observation_id }) {
    const contact = await contactToRead(tx, id);
    const row = await tx.get(observationById, [contact.id, observation_id]);
    if (row === undefined) throw notFound("observation");
    await eraseAnswers(tx, row.id);
    tx.remove(observations, row);
  },
};
