import type { Event } from "../../entry.ts";
import type { Finding, World } from "../world/types.ts";
import {
  allItems,
  eventsIn,
  fullPages,
  handleOf,
  messagesIn,
  orGone,
  scopesOf,
  type WorldScope,
} from "./reads.ts";

/** Finds a number in any text: carriers and phones write it in international form. */
const phoneNumber = /\+\d{7,15}/g;

/** Fields of events that say something about a contact. An erasure empties them. */
const personalTexts: ReadonlySet<string> = new Set([
  "address",
  "body",
  "email",
  "language",
  "message",
  "name",
  "phone",
  "preview",
  "reason",
  "summary",
  "time_zone",
  "to",
]);
const personalLists: ReadonlySet<string> = new Set([
  "approval",
  "attributes",
  "identities",
  "labels",
  "later_approvals",
  "media",
  "metadata",
  "result",
  "steps",
]);

/**
 * After a contact is erased, its messages and conversations are gone. No event in the log has its
 * data or its words, and no delivery of these events has a body.
 */
export async function erasedMeansGone(world: World): Promise<Finding | undefined> {
  for (const scope of await scopesOf(world)) {
    const isGone = presence(world, scope);
    const found =
      (await findResource(world, scope, isGone)) ?? (await findEvent(world, scope, isGone));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a contact or a conversation no longer exists. */
type IsGone = (id: string) => Promise<boolean>;

function presence(world: World, scope: WorldScope): IsGone {
  const { contacts, conversations } = handleOf(world, scope);
  const known = new Map<string, boolean>();
  return async (id) => {
    const resources = id.startsWith("conv_") ? conversations : contacts;
    const isGone = known.get(id) ?? (await orGone<unknown>(resources.get(id))) === undefined;
    known.set(id, isGone);
    return isGone;
  };
}

async function findResource(
  world: World,
  scope: WorldScope,
  isGone: IsGone,
): Promise<Finding | undefined> {
  const { conversations } = handleOf(world, scope);
  const owned = [
    ...(await messagesIn(world, scope)),
    ...(await allItems(conversations.list(fullPages))).map(({ id, contact }) => ({
      id,
      contact_id: contact.id,
    })),
  ];
  for (const { id, contact_id } of owned) {
    if (!(await isGone(contact_id))) continue;
    const description = `${id} is still there, though its contact ${contact_id} is erased`;
    return { description, about: [id, contact_id] };
  }
  return undefined;
}

async function findEvent(
  world: World,
  scope: WorldScope,
  isGone: IsGone,
): Promise<Finding | undefined> {
  const { senders, webhooks } = handleOf(world, scope);
  const own = new Set((await allItems(senders.list(fullPages))).map(({ address }) => address));
  const erased = new Set<string>();
  for (const event of await eventsIn(world, scope)) {
    const subject = subjectOf(event);
    if (subject === undefined || !(await isGone(subject))) continue;
    erased.add(event.id);
    const left = leftIn(event, own);
    if (left === undefined) continue;
    const description = `${subject} is erased, but ${event.type} ${event.id} has ${left}`;
    return { description, about: [event.id, subject] };
  }
  for (const webhook of await allItems(webhooks.list(fullPages))) {
    const deliveries = await allItems(webhooks.deliveries(webhook.id, fullPages));
    for (const { id, event_id } of deliveries.filter((each) => erased.has(each.event_id))) {
      const { body } = await webhooks.delivery(webhook.id, id);
      if (body === null) continue;
      const description = `the contact of ${event_id} is erased, but a delivery has its body`;
      return { description, about: [event_id, webhook.id] };
    }
  }
  return undefined;
}

/** The contact that an event is about, or the conversation if it does not name the contact. */
function subjectOf({ type, data }: Event): string | undefined {
  // It has nothing but the id, and is published when everything else is gone.
  if (type === "contact.erased") return undefined;
  if ("contact_id" in data) return data.contact_id;
  if ("contact" in data) return data.contact.id;
  if ("run" in data) return data.run.conversation_id ?? undefined;
  return "conversation" in data ? data.conversation.contact.id : undefined;
}

/** What is left of a contact in an event. Undefined if nothing is. */
function leftIn({ data }: Event, own: ReadonlySet<string>): string | undefined {
  const number = JSON.stringify(data)
    .match(phoneNumber)
    ?.find((each) => !own.has(each));
  return number === undefined ? fieldLeftIn(data) : `the number ${number}`;
}

function fieldLeftIn(data: object, path = ""): string | undefined {
  for (const [name, value] of Object.entries(data) as [string, unknown][]) {
    if (value === null || value === "") continue;
    const field = `${path}${name}`;
    if (isPersonal(name, value)) return `${field}: ${JSON.stringify(value)}`;
    const inside = typeof value === "object" ? fieldLeftIn(value ?? {}, `${field}.`) : undefined;
    if (inside !== undefined) return inside;
  }
  return undefined;
}

function isPersonal(name: string, value: unknown): boolean {
  if (personalTexts.has(name)) return typeof value === "string";
  const isEmpty = typeof value === "object" && Object.keys(value ?? {}).length === 0;
  return personalLists.has(name) && !isEmpty;
}
