import type { Conversation, Handler } from "../../../src/conversations/types.ts";
import { events, type EventRow } from "../../../src/events/rows.ts";
import type { Write } from "../../../src/ports/storage.ts";
import { courseOf, standingIn } from "../course.ts";
import type { Invariant } from "../invariant.ts";
import type { World } from "../world.ts";
import { runsIn } from "./runs.ts";

/** Events as they went into the log. */
function toldIn(writes: readonly Write[]): EventRow[] {
  return writes.flatMap((write) =>
    write.collection === events && write.kind === "insert"
      ? [write.row as unknown as EventRow]
      : [],
  );
}

export const handedOffOnce: Invariant = {
  name: "each hand-off is told of once",
  watch() {
    const handlers = new Map<string, Handler>();
    /** Handed off by an agent, and not told yet. */
    const untold = new Map<string, "must" | "may">();
    return {
      *commit(engine, writes) {
        for (const event of toldIn(writes)) {
          const standing = standingIn(event);
          if (standing !== undefined) {
            const { id: conversation_id, handler } = standing;
            const before = handlers.get(conversation_id) ?? "none";
            handlers.set(conversation_id, handler);
            // A person who lets go of it puts it in the queue too, and that is no hand-off.
            if (handler === "queue" && before !== "queue") {
              untold.set(conversation_id, before === "human" ? "may" : "must");
            } else if (handler !== "queue") untold.delete(conversation_id);
          } else if (event.type === "conversation.handoff") {
            const { conversation_id } = event.data as { conversation_id: string };
            if (untold.delete(conversation_id)) continue;
            const says = `${engine} told of a hand-off of ${conversation_id} that there was not`;
            yield { about: [conversation_id], says };
          }
        }
        for (const [conversation_id, tells] of untold) {
          if (tells === "must") {
            yield {
              about: [conversation_id],
              says: `${engine} handed off ${conversation_id}, and told nobody`,
            };
          }
        }
        untold.clear();
      },
    };
  },
};

type Judge = (given: {
  readonly isAsked: boolean;
  readonly isReopened: boolean;
  readonly isWrittenTo: boolean;
  readonly hasTurn: boolean;
}) => boolean;

/** Who may do what to a conversation's handler, but for people, who may do anything. Nobody is made a person's but by a person. */
const transitions: Readonly<Record<string, Judge>> = {
  "none to ai": ({ isWrittenTo, hasTurn, isAsked }) => isWrittenTo || hasTurn || isAsked,
  "ai to queue": ({ hasTurn, isAsked }) => hasTurn || isAsked,
  // Nobody has come, or the contact has come back to what was closed.
  "queue to ai": () => true,
  "human to ai": ({ isReopened, isWrittenTo, isAsked }) => (isReopened && isWrittenTo) || isAsked,
};

export const rightHands: Invariant = {
  name: "a conversation changes hands as it may",
  watch({ desk }: World) {
    const standing = new Map<string, Conversation>();
    return {
      *commit(engine, writes) {
        const steps = courseOf(writes);
        const worked = new Set<string>(
          runsIn(writes).map(({ conversation_id }) => conversation_id),
        );
        const written = new Set(
          steps.flatMap((step) =>
            step.kind === "has a message" && step.message.direction === "inbound"
              ? [step.conversation_id]
              : [],
          ),
        );
        const reopened = new Set<string>();
        for (const step of steps) {
          if (step.kind !== "stands") continue;
          const { conversation_id, conversation: after } = step;
          const before = standing.get(conversation_id);
          standing.set(conversation_id, after);
          if (before?.status === "closed" && after.status !== "closed") {
            reopened.add(conversation_id);
          }
          if (before === undefined || before.handler === after.handler) continue;
          const isAsked = desk.handling.has(conversation_id) || desk.handling.has(after.contact.id);
          const given = {
            isAsked,
            isReopened: reopened.has(conversation_id),
            isWrittenTo: written.has(conversation_id),
            hasTurn: worked.has(conversation_id) || isLeft(before, desk),
          };
          const how = `${before.handler} to ${after.handler}`;
          if (transitions[how]?.(given) ?? isAsked) continue;
          yield {
            about: [conversation_id],
            says: `${engine} took ${conversation_id} from ${how}, and nobody asked for it`,
          };
        }
      },
    };
  },
};

/** Its agent is gone or disabled, or was asked to be. */
function isLeft({ assignee }: Conversation, { dismissed }: World["desk"]): boolean {
  return assignee !== null && dismissed.has(assignee.id);
}
