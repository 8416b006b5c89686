import { contactById } from "../contacts/rows.ts";
import type { Contact } from "../contacts/types.ts";
import { eventResource } from "../events/resource.ts";
import { sampleData } from "./event-samples.ts";
import type { AnyEvent } from "../events/types.ts";
import { definitionOf } from "../webhooks/event-catalog.ts";
import { type SandboxEvent, sandboxEventSchema } from "./types.ts";
import { invalid } from "../kernel/errors.ts";
import { type Command, showsOutput } from "../operations/operation.ts";
import type { Tx } from "../store/transaction.ts";
import { appendEvent } from "../events/append.ts";
import { mergedAway } from "../contacts/find-to-change.ts";
import { refuseLive } from "./refuse-live.ts";
import { showContact } from "../contacts/show.ts";

/** Tells everybody who listens of something that never happened: handlers, streams and webhooks. */
export const createSandboxEvent: Command<SandboxEvent, AnyEvent> = {
  kind: "command",
  name: "sandbox.event",
  input: () => sandboxEventSchema,
  status: 201,
  shows: showsOutput,
  async run(tx, { type, contact_id }, { scope, services: { drawId } }) {
    refuseLive(scope);
    const contact = contact_id === undefined ? undefined : await contactOf(tx, contact_id);
    const data = sampleData(type, { now: tx.now, ...(contact === undefined ? {} : { contact }) });
    const id = drawId("evt");
    const subject = contact === undefined ? {} : { contact_id: contact.id };
    appendEvent(tx, drawId, definitionOf(type), data, subject, id);
    return eventResource({ id, type, created_at: tx.now, data });
  },
};

/** Held: an erasure that commits meanwhile must find the event. */
async function contactOf(tx: Tx, id: string): Promise<Contact> {
  const contact = await tx.get(contactById, [id], { hold: true });
  if (contact === undefined) {
    throw invalid([
      { pointer: "/contact_id", code: "unknown_contact", message: "no such contact" },
    ]);
  }
  if (contact.merged_into !== null) throw mergedAway(contact.merged_into);
  return showContact(tx, contact);
}
