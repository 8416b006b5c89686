import { identityByAddress } from "../../../src/contacts/rows.ts";
import { conversationById, conversations } from "../../../src/conversations/rows.ts";
import type { Conversation } from "../../../src/conversations/types.ts";
import { type MessageRow, messagesOfConversation } from "../../../src/messages/rows.ts";
import { mediumOf } from "../../../src/kernel/fields.ts";
import type { RunRow } from "../../../src/agents/runs/rows.ts";
import type { Write } from "../../../src/ports/storage.ts";
import { courseOf } from "../course.ts";
import type { Breach, Invariant } from "../invariant.ts";
import { peek } from "../rows.ts";
import { runsIn } from "./runs.ts";

function* saidByAgents(writes: readonly Write[]): Iterable<MessageRow> {
  for (const step of courseOf(writes)) {
    if (step.kind === "has a message" && step.message.author_type === "agent") yield step.message;
  }
}

/** The turns that came to their end in this commit. */
function turnsIn(writes: readonly Write[]): RunRow[] {
  return runsIn(writes).filter(({ status }) => status !== "running" && status !== "canceled");
}

export const answeredOnce: Invariant = {
  name: "an agent answers once",
  watch({ ground }) {
    /** Which run answered a message. */
    const answeredBy = new Map<string, string>();
    /** How often a run may speak: once, and once more after each approval. */
    const mayStill = new Map<string, number>();
    return {
      *commit(engine, writes) {
        const ended = turnsIn(writes);
        for (const { id, conversation_id, sequence, body } of saidByAgents(writes)) {
          const breach = (says: string): Breach => ({
            about: [id, conversation_id],
            says: `${engine}: ${says}`,
          });
          const own = ended.filter((run) => run.conversation_id === conversation_id);
          const [run] = own;
          if (run === undefined || own.length > 1) {
            yield breach(`an agent said ${id} in ${own.length} turns`);
            continue;
          }
          const left = mayStill.get(run.id) ?? 1;
          mayStill.set(run.id, left - 1);
          if (left === 0) yield breach(`${run.id} says ${id}, and has had its say`);
          for (const heard of run.message_ids) {
            const other = answeredBy.get(heard) ?? run.id;
            if (other !== run.id) {
              yield breach(`${run.id} answers ${heard} with ${id}, as ${other} has before`);
            }
            answeredBy.set(heard, run.id);
          }
          if (run.request !== null || run.resumed) continue;
          const newer = peek(ground, messagesOfConversation, [conversation_id]).find(
            (each) =>
              each.direction === "inbound" &&
              each.keyword === null &&
              each.sequence > run.heard &&
              each.sequence < sequence,
          );
          if (newer !== undefined) {
            yield breach(`${id}, "${body ?? ""}", was said though ${newer.id} had come in`);
          }
        }
        for (const { id, status } of runsIn(writes)) {
          if (status === "awaiting_approval") mayStill.set(id, (mayStill.get(id) ?? 1) + 1);
        }
      },
    };
  },
};

export const ownAlone: Invariant = {
  name: "an agent speaks only where the conversation is its own",
  watch() {
    const standing = new Map<string, Conversation>();
    return {
      *commit(engine, writes) {
        for (const step of courseOf(writes)) {
          if (step.kind === "stands") standing.set(step.conversation_id, step.conversation);
          if (step.kind !== "has a message" || step.message.author_type !== "agent") continue;
          const { id, conversation_id, author_id } = step.message;
          const { handler, status, assignee } = standing.get(conversation_id) ?? {};
          if (handler === "ai" && status !== "closed" && assignee?.id === author_id) continue;
          const whose = `${status ?? "not there"}, with ${handler ?? "nobody"} and ${assignee?.id ?? "nobody"} assigned`;
          yield {
            about: [id, conversation_id],
            says: `${engine} had ${author_id ?? ""} say ${id}, where it was ${whose}`,
          };
        }
      },
    };
  },
};

export const heardOut: Invariant = {
  name: "what is written to an agent is answered, handed off or overtaken, unless nothing more is wanted",
  watch({ ground }) {
    /** What came in while an agent had the conversation, by id. */
    const expected = new Map<string, MessageRow>();
    const agents = new Map<string, string | undefined>();
    const forget = (conversation_id: string): void => {
      for (const [id, each] of expected) {
        if (each.conversation_id === conversation_id) expected.delete(id);
      }
    };
    const wantsNone = ({ account_id, mode, channel, from, to }: MessageRow): boolean =>
      peek(ground, identityByAddress, [account_id, mode, mediumOf(channel), from]).some(
        ({ consent, opted_out_of, opted_in_to }) =>
          opted_out_of.includes(to) || (consent === "opted_out" && !opted_in_to.includes(to)),
      );
    return {
      commit(_engine, writes) {
        for (const step of courseOf(writes)) {
          const { conversation_id } = step;
          if (step.kind === "stands") {
            const { handler, status, assignee } = step.conversation;
            const agent = handler === "ai" && status !== "closed" ? assignee?.id : undefined;
            const before = agents.get(conversation_id);
            const last = [...expected.values()].findLast(
              (each) => each.conversation_id === conversation_id,
            );
            if (agent !== before) forget(conversation_id);
            // The last of what came in calls an agent; those before it were written to people, or to nobody.
            if (before === undefined && last !== undefined) expected.set(last.id, last);
            agents.set(conversation_id, agent);
          }
          if (step.kind === "has a message" && step.message.author_type === "human") {
            forget(conversation_id);
          }
          if (
            step.kind === "has a message" &&
            step.message.direction === "inbound" &&
            step.message.keyword === null
          ) {
            expected.set(step.message.id, step.message);
          }
        }
        for (const write of writes) {
          if (write.collection === conversations && write.kind === "remove") {
            forget(String(write.key[2]));
          }
        }
        // Whoever writes last is answered, for all that was written: who has two numbers may have opted out with that one.
        const last = new Map(
          [...expected.values()].map((message) => [message.conversation_id, message]),
        );
        for (const [conversation_id, message] of last) {
          if (agents.get(conversation_id) === undefined || wantsNone(message)) {
            forget(conversation_id);
          }
        }
        for (const { message_ids } of turnsIn(writes)) {
          for (const id of message_ids) expected.delete(id);
        }
        return [];
      },
      async end() {
        return [...expected.values()].flatMap((message): Breach[] => {
          const { id, conversation_id, sequence, account_id, mode } = message;
          const [conversation] = peek(ground, conversationById, [
            account_id,
            mode,
            conversation_id,
          ]);
          if (conversation?.handler !== "ai" || conversation.status === "closed") return [];
          if (agents.get(conversation_id) === undefined) return [];
          const says = `${id}, number ${sequence} of ${conversation_id}, was written to ${conversation.assignee_id ?? ""} and nothing came of it`;
          return [{ about: [id, conversation_id], says }];
        });
      },
    };
  },
};
