/** Laws about the messages that scripted carriers got. */
import type { Event, Message } from "../../entry.ts";
import type { CarrierCall } from "../carrier/script.ts";
import type { Finding, World } from "../world/types.ts";
import {
  eventsIn,
  handleOf,
  isAccepted,
  messagesIn,
  orGone,
  scopesOf,
  type WorldScope,
} from "./reads.ts";

export async function nothingHandedOverTwice(world: World): Promise<Finding | undefined> {
  const seen = new Set<string>();
  for (const { message } of world.calls.filter(isAccepted)) {
    const { message_id: id } = message;
    if (seen.has(id)) {
      return { description: `the carrier accepted ${id} more than once`, about: [id] };
    }
    seen.add(id);
  }
  return undefined;
}

/**
 * The commit that begins a hand-over has an event with the status `sending`. The log is in the
 * order of the commits, so clocks do not matter.
 */
export async function nothingAfterAnOptOut(world: World): Promise<Finding | undefined> {
  for (const scope of await scopesOf(world)) {
    const messages = new Map((await messagesIn(world, scope)).map((each) => [each.id, each]));
    const changes: ConsentChange[] = [];
    for (const event of await eventsIn(world, scope)) {
      if (isConsentChange(event)) changes.push(event);
      if (event.type !== "message.updated" || event.data.status !== "sending") continue;
      const { message_id: id } = event.data;
      const message = messages.get(id);
      if (message === undefined || message.author.type === "system") continue;
      const latest = changes.findLast(
        ({ data: { address, sender } }) =>
          address === message.to && (sender === null || sender === message.from),
      );
      if (latest?.type !== "contact.opted_out") continue;
      return { description: `${id} went out after an opt-out`, about: [id] };
    }
  }
  return undefined;
}

type ConsentChange = Event<"contact.opted_out" | "contact.opted_in">;

function isConsentChange(event: Event): event is ConsentChange {
  return event.type === "contact.opted_out" || event.type === "contact.opted_in";
}

export async function statusFollowsTheEvidence(world: World): Promise<Finding | undefined> {
  const carriers = new Map(world.carriers.map((carrier) => [carrier.name, carrier]));
  for (const scope of await scopesOf(world)) {
    const calls = Map.groupBy(scope.calls, ({ message }) => message.message_id);
    for (const { id, status, transport } of await messagesIn(world, scope)) {
      const own = (calls.get(id) ?? []).filter(isAccepted);
      if (own.some(isKnownAsDelivered) && !isDelivered(status)) {
        const description = `${id} is ${status}, though a receipt says that it was delivered`;
        return { description, about: [id] };
      }
      const proves = proofs[status];
      if (!carriers.has(transport ?? "") || proves === undefined) continue;
      const hasReceipts = (call: CarrierCall): boolean =>
        carriers.get(call.transport)?.capabilities.receipts !== "none";
      if (own.some((call) => proves(call, hasReceipts(call)))) continue;
      return { description: `${id} is ${status}, though no carrier reported that`, about: [id] };
    }
  }
  return undefined;
}

const isDelivered = (status: string): boolean => status === "delivered" || status === "read";

/** Whether an engine has acknowledged a receipt that proves the delivery. */
function isKnownAsDelivered({ receipts }: CarrierCall): boolean {
  return receipts.some(({ acknowledged, receipt }) => acknowledged && isDelivered(receipt.status));
}

const isEnough = (): boolean => true;
const provesDelivery = ({ receipts }: CarrierCall, hasReceipts: boolean): boolean =>
  !hasReceipts || receipts.some(({ receipt }) => isDelivered(receipt.status));

/** Whether a call that the carrier accepted proves a status. Other statuses need no proof. */
const proofs: Readonly<
  Partial<Record<Message["status"], (call: CarrierCall, hasReceipts: boolean) => boolean>>
> = {
  sent: isEnough,
  unconfirmed: isEnough,
  undelivered: ({ receipts }) => receipts.some(({ receipt }) => receipt.status === "undelivered"),
  delivered: provesDelivery,
  read: provesDelivery,
};

/** A message that is stored, and the account and mode that it belongs to. */
interface Stored {
  readonly owner: WorldScope;
  readonly message: Message;
}

export async function handedOverAsWritten(world: World): Promise<Finding | undefined> {
  const scopes = await scopesOf(world);
  const stored = new Map<string, Stored>();
  for (const owner of scopes) {
    for (const message of await messagesIn(world, owner)) {
      stored.set(message.id, { owner, message });
    }
  }
  for (const scope of scopes) {
    const redacted = await findRedacted(world, scope);
    if (redacted !== undefined) return redacted;
    for (const call of scope.calls) {
      const id = call.message.message_id;
      const found = stored.get(id);
      const problem =
        found === undefined ? await problemOfLost(world, scope, id) : problemOf(call, scope, found);
      if (problem !== undefined) return { description: `the carrier got ${problem}`, about: [id] };
    }
  }
  return undefined;
}

/** A hand-over that began after a redaction. The message had nothing left to hand over. */
async function findRedacted(world: World, scope: WorldScope): Promise<Finding | undefined> {
  const redacted = new Set<string>();
  for (const { type, data } of await eventsIn(world, scope)) {
    if (type === "message.redacted") redacted.add(data.message_id);
    if (type !== "message.updated" || data.status !== "sending") continue;
    const { message_id: id } = data;
    if (!redacted.has(id)) continue;
    return { description: `${id} was handed over after it was redacted`, about: [id] };
  }
  return undefined;
}

/** What is wrong with a message that is not stored. It may go only with its contact. */
async function problemOfLost(
  world: World,
  scope: WorldScope,
  id: string,
): Promise<string | undefined> {
  const events = await eventsIn(world, scope);
  const [contact_id] = events.flatMap(({ data }) =>
    "message_id" in data && data.message_id === id ? contactIn(data) : [],
  );
  if (contact_id === undefined) return undefined;
  const contact = await orGone(handleOf(world, scope).contacts.get(contact_id));
  return contact && `${id}, which is not stored, though ${contact_id} is not erased`;
}

function contactIn(data: Event["data"]): readonly string[] {
  if ("contact_id" in data) return [data.contact_id];
  return "contact" in data ? [data.contact.id] : [];
}

function problemOf(
  call: CarrierCall,
  scope: WorldScope,
  { owner, message }: Stored,
): string | undefined {
  if (owner !== scope) return `${message.id} as one of ${scope.account_id}, ${scope.mode}`;
  // A redacted message has lost its text and its files. A message that the carrier did not accept
  // can be deferred and edited.
  const keepsText = message.body !== null && isAccepted(call);
  for (const field of ["channel", "from", "to", ...(keepsText ? ["body", "media"] : [])]) {
    const [found, expected] = [call.message, message].map((each) =>
      JSON.stringify(Reflect.get(each, field)),
    );
    if (found === expected) continue;
    return `the ${field} ${found} for ${message.id} instead of ${expected}`;
  }
  return undefined;
}
