import type { Event } from "../../entry.ts";
import type { Finding, World } from "../world/types.ts";
import { allPages, eventsIn, handleOf, orGone, scopesOf, type WorldScope } from "./reads.ts";

/** Finds a number in any text: carriers and phones write it in international form. */
const phoneNumber = /\+\d{7,15}/g;

/**
 * After a contact is erased, its messages are gone. No event in the log has its number, its name
 * or its words, and no delivery of these events has a body.
 */
export async function erasedMeansGone(world: World): Promise<Finding | undefined> {
  for (const scope of await scopesOf(world)) {
    const found = await findLeftOver(world, scope);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function findLeftOver(world: World, scope: WorldScope): Promise<Finding | undefined> {
  const { contacts, messages, senders, webhooks } = handleOf(world, scope);
  const own = new Set((await allPages((page) => senders.list(page))).map(({ address }) => address));
  const known = new Map<string, boolean>();
  const isErased = async (id: string): Promise<boolean> => {
    const erased = known.get(id) ?? (await orGone(contacts.get(id))) === undefined;
    known.set(id, erased);
    return erased;
  };
  for (const { id, contact_id } of await allPages((page) => messages.list(page))) {
    if (!(await isErased(contact_id))) continue;
    const description = `${id} is still there, though its contact ${contact_id} is erased`;
    return { description, about: [id, contact_id] };
  }
  const erased: Event[] = [];
  for (const event of await eventsIn(world, scope)) {
    const contact_id = contactOf(event);
    if (contact_id === undefined || !(await isErased(contact_id))) continue;
    erased.push(event);
    const left = leftIn(event, own);
    if (left === undefined) continue;
    const description = `${contact_id} is erased, but ${event.type} ${event.id} has ${left}`;
    return { description, about: [event.id, contact_id] };
  }
  const ids = new Set<string>(erased.map(({ id }) => id));
  for (const webhook of await allPages((page) => webhooks.list(page))) {
    const deliveries = await allPages((page) => webhooks.deliveries(webhook.id, page));
    for (const { id, event_id } of deliveries.filter((each) => ids.has(each.event_id))) {
      const { body } = await webhooks.delivery(webhook.id, id);
      if (body === null) continue;
      const description = `the contact of ${event_id} is erased, but a delivery has its body`;
      return { description, about: [event_id, webhook.id] };
    }
  }
  return undefined;
}

function contactOf({ type, data }: Event): string | undefined {
  // It has nothing but the id, and is published when everything else is gone.
  if (type === "contact.erased") return undefined;
  if ("contact_id" in data) return data.contact_id;
  if ("contact" in data) return data.contact.id;
  return "conversation" in data ? data.conversation.contact.id : undefined;
}

/** What is left of a contact in an event: a number, a name or a text. */
function leftIn({ data }: Event, own: ReadonlySet<string>): string | undefined {
  const number = JSON.stringify(data)
    .match(phoneNumber)
    ?.find((each) => !own.has(each));
  if (number !== undefined) return `the number ${number}`;
  if (nameIn(data) !== "") return "a name";
  return textsIn(data).some((text) => text !== "") ? "the text of a message" : undefined;
}

function nameIn(data: Event["data"]): string {
  const { contact } = "conversation" in data ? data.conversation : { contact: null, ...data };
  return contact?.name ?? "";
}

/** What the contact wrote, and what was written about it. */
function textsIn(data: Event["data"]): readonly string[] {
  if ("body" in data) return [data.body];
  if ("summary" in data) return [data.reason, data.summary];
  return "conversation" in data ? [data.conversation.last_message?.preview ?? ""] : [];
}
