import type { Message } from "../../entry.ts";
import type { Finding, World } from "../world/types.ts";
import {
  allItems,
  eventsIn,
  fullPages,
  handleOf,
  messageOf,
  scopesOf,
  type WorldScope,
} from "./reads.ts";

export async function conversationsInOrder(world: World): Promise<Finding | undefined> {
  for (const scope of await scopesOf(world)) {
    const exempt = await exemptIn(world, scope);
    const places = new Map<string, readonly string[]>();
    const last = new Map<string, { readonly id: string; readonly place: number }>();
    for (const call of scope.calls) {
      const { message_id: id } = call.message;
      if (exempt.has(id)) continue;
      const stored = await messageOf(world, call);
      if (stored === undefined || stored.send_at !== null) continue;
      const { conversation_id } = stored;
      const order =
        places.get(conversation_id) ?? (await messagesOf(world, scope, conversation_id));
      places.set(conversation_id, order);
      const place = order.indexOf(id);
      const before = last.get(conversation_id);
      if (before !== undefined && before.place > place) {
        const description = `the carrier got ${before.id} before ${id}, which comes first`;
        return { description, about: [before.id, id] };
      }
      last.set(conversation_id, { id, place });
    }
  }
  return undefined;
}

const waits = (status: Message["status"]): boolean => status === "queued" || status === "sending";

/**
 * The ids of the messages that were ever scheduled or ambiguous, or that came back after they were
 * sent, since a route tries another carrier.
 */
async function exemptIn(world: World, scope: WorldScope): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (const { type, data } of await eventsIn(world, scope)) {
    if (type !== "message.updated") continue;
    const { status, previous_status } = data;
    const isLoose = [status, previous_status].some((each) =>
      ["scheduled", "ambiguous"].includes(each),
    );
    const isBack = waits(status) && !waits(previous_status);
    if (isLoose || isBack) ids.add(data.message_id);
  }
  return ids;
}

/** The ids of the messages of a conversation, oldest first. */
async function messagesOf(world: World, scope: WorldScope, id: string): Promise<readonly string[]> {
  const { conversations } = handleOf(world, scope);
  const newestFirst = await allItems(conversations.messages(id, fullPages));
  return newestFirst.map((message) => message.id).toReversed();
}
