import { type Contact, contactById, mergedAway, showContact } from "../contacts/index.ts";
import { type AnyEvent, appendEvent, eventResource } from "../events/index.ts";
import { sampleData } from "./event-samples.ts";
import { definitionOf } from "../webhooks/index.ts";
import { type SandboxEvent, sandboxEventSchema } from "./types.ts";
import { invalid } from "../kernel/index.ts";
import { type Command, type Services, showsOutput } from "../operations/index.ts";
import type { Tx } from "../store/index.ts";
import { refuseLive } from "./refuse-live.ts";

/** Tells everybody who listens of something that never happened: handlers, streams and webhooks. */
export const createSandboxEvent: Command<SandboxEvent, AnyEvent> = {
  kind: "command",
  name: "sandbox.event",
  input: () => sandboxEventSchema,
  status: 201,
  shows: showsOutput,
  async run(tx, { type, contact_id }, { scope, services }) {
    const { drawId } = services;
    refuseLive(scope);
    const contact =
      contact_id === undefined ? undefined : await contactOf(tx, services, contact_id);
    const data = sampleData(type, { now: tx.now, ...(contact === undefined ? {} : { contact }) });
    const id = drawId("evt");
    const subject = contact === undefined ? {} : { contact_id: contact.id };
    appendEvent(tx, drawId, definitionOf(type), data, subject, id);
    return eventResource({ id, type, created_at: tx.now, data });
  },
};

/** Held: an erasure that commits meanwhile must find the event. */
async function contactOf(tx: Tx, services: Services, id: string): Promise<Contact> {
  const contact = await tx.get(contactById, [id], { hold: true });
  if (contact === undefined) {
    throw invalid([
      { pointer: "/contact_id", code: "unknown_contact", message: "no such contact" },
    ]);
  }
  if (contact.merged_into !== null) throw mergedAway(contact.merged_into);
  return showContact(tx, contact, services);
}
