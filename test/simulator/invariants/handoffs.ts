import { runs } from "../../../src/agents/runs/rows.ts";
import { contacts } from "../../../src/contacts/rows.ts";
import type { Conversation, Handler } from "../../../src/conversations/types.ts";
import { events } from "../../../src/events/rows.ts";
import { conversationChanges, conversationIn } from "../conversation-changes.ts";
import type { Invariant } from "../invariant.ts";
import { insertedRows, removedIds, writtenRows } from "../rows.ts";
import type { World } from "../world.ts";

export const handoffEventOnce: Invariant = {
  name: "Each hand-off is reported by one event.",
  check() {
    const handlers = new Map<string, Handler>();
    /** Conversations handed off in this commit that have no event yet. */
    const unreported = new Set<string>();
    return {
      *commit(engine, writes) {
        for (const event of insertedRows(writes, events)) {
          const conversation = conversationIn(event);
          if (conversation !== undefined) {
            const { id: conversation_id, handler } = conversation;
            const before = handlers.get(conversation_id) ?? "none";
            handlers.set(conversation_id, handler);
            if (handler !== "queue") unreported.delete(conversation_id);
            else if (before !== "queue") unreported.add(conversation_id);
          } else if (event.type === "conversation.handoff") {
            const { conversation_id } = event.data as { conversation_id: string };
            if (unreported.delete(conversation_id)) continue;
            yield {
              about: [conversation_id],
              description: `${engine} reported a hand-off of ${conversation_id} that did not happen`,
            };
          }
        }
        for (const conversation_id of unreported) {
          yield {
            about: [conversation_id],
            description: `${engine} handed off ${conversation_id} without an event`,
          };
        }
        unreported.clear();
      },
    };
  },
};

/** What else the commit did to the conversation, or what an operator asked for. */
interface Circumstances {
  readonly isRequested: boolean;
  readonly isReopened: boolean;
  readonly hasInbound: boolean;
  readonly hasRun: boolean;
  /** A merge may have closed a conversation whose contact now waits in this one. */
  readonly isMerged: boolean;
}

/**
 * When a conversation may change its handler on its own. An operator's request allows any change,
 * and only an operator's request makes a human the handler.
 */
const transitions: Readonly<Record<string, (given: Circumstances) => boolean>> = {
  "none to ai": ({ hasInbound, hasRun, isRequested }) => hasInbound || hasRun || isRequested,
  "ai to queue": ({ hasRun, isMerged, isRequested }) => hasRun || isMerged || isRequested,
  "none to queue": ({ isMerged, isRequested }) => isMerged || isRequested,
  // No human took it in time, or the contact wrote to a closed conversation.
  "queue to ai": () => true,
  "human to ai": ({ isReopened, hasInbound, isRequested }) =>
    (isReopened && hasInbound) || isRequested,
};

export const handlerChangesAllowed: Invariant = {
  name: "A conversation changes its handler only for a reason.",
  check({ operators }: World) {
    const states = new Map<string, Conversation>();
    return {
      *commit(engine, writes) {
        const changes = conversationChanges(writes);
        const withRun = new Set<string>(
          writtenRows(writes, runs).map(({ conversation_id }) => conversation_id),
        );
        const withInbound = new Set(
          changes.flatMap((change) =>
            change.kind === "message" && change.message.direction === "inbound"
              ? [change.conversation_id]
              : [],
          ),
        );
        const survivors = writtenRows(writes, contacts).map((row) => row.merged_into);
        const erased = removedIds(writes, contacts);
        // The commit may have merged contacts before it erased them.
        const merged = new Set<string | null>([...survivors, ...(erased.length > 1 ? erased : [])]);
        const reopened = new Set<string>();
        for (const change of changes) {
          if (change.kind !== "state") continue;
          const { conversation_id, conversation: after } = change;
          const before = states.get(conversation_id);
          states.set(conversation_id, after);
          if (before?.status === "closed" && after.status !== "closed") {
            reopened.add(conversation_id);
          }
          if (before === undefined || before.handler === after.handler) continue;
          const isRequested =
            operators.assigning.has(conversation_id) || operators.assigning.has(after.contact.id);
          const given = {
            isRequested,
            isReopened: reopened.has(conversation_id),
            hasInbound: withInbound.has(conversation_id),
            hasRun: withRun.has(conversation_id) || lostItsAgent(before, operators),
            isMerged: merged.has(after.contact.id),
          };
          const transition = `${before.handler} to ${after.handler}`;
          if (transitions[transition]?.(given) ?? isRequested) continue;
          yield {
            about: [conversation_id],
            description: `${engine} moved ${conversation_id} from ${transition} without a reason`,
          };
        }
      },
    };
  },
};

/** Whether an operator asked to disable or delete the conversation's agent. */
function lostItsAgent({ assignee }: Conversation, { removedAgents }: World["operators"]): boolean {
  return assignee !== null && removedAgents.has(assignee.id);
}
