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

/**
 * The messages of a conversation reach the carrier in the order of the conversation. Messages that
 * were ever scheduled or ambiguous are exempt: the others do not wait for them.
 */
export async function conversationsInOrder(world: World): Promise<Finding | undefined> {
  for (const scope of await scopesOf(world)) {
    const exempt = await exemptIn(world, scope);
    const places = new Map<string, readonly string[]>();
    const last = new Map<string, { readonly id: string; readonly place: number }>();
    for (const call of scope.calls) {
      const { message_id: id } = call.message;
      if (call.number > 1 || exempt.has(id)) continue;
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

/** The ids of the messages that were ever scheduled or ambiguous. */
async function exemptIn(world: World, scope: WorldScope): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (const { type, data } of await eventsIn(world, scope)) {
    if (type !== "message.updated") continue;
    const { status, previous_status } = data;
    const isExempt = [status, previous_status].some((each) =>
      ["scheduled", "ambiguous"].includes(each),
    );
    if (isExempt) ids.add(data.message_id);
  }
  return ids;
}

/** The ids of the messages of a conversation, oldest first. */
async function messagesOf(world: World, scope: WorldScope, id: string): Promise<readonly string[]> {
  const { conversations } = handleOf(world, scope);
  const newestFirst = await allItems(conversations.messages(id, fullPages));
  return newestFirst.map((message) => message.id).toReversed();
}
