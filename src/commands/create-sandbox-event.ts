import { contactById } from "../domain/contacts/rows.ts";
import type { Contact } from "../domain/contacts/types.ts";
import { eventResource } from "../domain/events/resource.ts";
import { sampleData } from "../domain/events/samples.ts";
import type { Event } from "../domain/events/types.ts";
import { type SandboxEvent, sandboxEventSchema } from "../domain/sandbox/types.ts";
import { invalid } from "../errors.ts";
import type { Command } from "../operation.ts";
import type { Scope } from "../scope.ts";
import type { Tx } from "../transactions/transaction.ts";
import { actorOf, appendEvent } from "./steps/append-event.ts";
import { mergedAway } from "./steps/contact-to-change.ts";
import { refuseLive } from "./steps/refuse-live.ts";
import { showContact } from "./steps/show-contact.ts";

/** Tells everybody who listens of something that never happened: handlers, streams and webhooks. */
export const createSandboxEvent: Command<SandboxEvent, Event> = {
  kind: "command",
  name: "sandbox.event",
  input: () => sandboxEventSchema,
  status: 201,
  async run(tx, { type, contact_id }, { scope, services: { drawId } }) {
    refuseLive(scope);
    const contact = contact_id === undefined ? undefined : await contactOf(tx, scope, contact_id);
    const data = sampleData(type, { now: tx.now, ...(contact === undefined ? {} : { contact }) });
    const id = drawId("evt");
    const subject = contact === undefined ? {} : { contact_id: contact.id };
    appendEvent(tx, actorOf(scope, drawId), type, data, subject, id);
    return eventResource({ id, type, created_at: tx.now, data });
  },
};

/** Held: an erasure that commits meanwhile must find the event. */
async function contactOf(tx: Tx, { account_id, mode }: Scope, id: string): Promise<Contact> {
  const contact = await tx.get(contactById, [account_id, mode, id], { hold: true });
  if (contact === undefined) {
    throw invalid([
      { pointer: "/contact_id", code: "unknown_contact", message: "no such contact" },
    ]);
  }
  if (contact.merged_into !== null) throw mergedAway(contact.merged_into);
  return showContact(tx, contact);
}
