import { runs, type RunRow } from "../../../src/agents/runs/rows.ts";
import { identityByAddress } from "../../../src/contacts/rows.ts";
import { firstNumber } from "../../../src/conversations/places.ts";
import { conversationById, conversations } from "../../../src/conversations/rows.ts";
import type { Conversation } from "../../../src/conversations/types.ts";
import { mediumOf } from "../../../src/kernel/channels.ts";
import { messages, messagesOfConversation, type MessageRow } from "../../../src/messages/rows.ts";
import type { Write } from "../../../src/ports/storage.ts";
import { conversationChanges } from "../conversation-changes.ts";
import type { Invariant, Violation } from "../invariant.ts";
import { readRows, removedIds, writtenRows } from "../rows.ts";

function* agentMessages(writes: readonly Write[]): Iterable<MessageRow> {
  for (const change of conversationChanges(writes)) {
    if (change.kind === "message" && change.message.author_type === "agent") yield change.message;
  }
}

/** The runs that this commit ended or paused for an approval. */
function endedRuns(writes: readonly Write[]): RunRow[] {
  return writtenRows(writes, runs).filter(
    ({ status }) => status !== "running" && status !== "canceled",
  );
}

export const agentAnswersOnce: Invariant = {
  name: "An agent answers each message at most once, and not before it has read all that came in.",
  check({ database }) {
    /** The run that answered a message, and its answer. */
    const answeredBy = new Map<string, { readonly run: string; readonly answer: string }>();
    /** A message whose answer never went out may be answered again. */
    const forgetEnded = (writes: readonly Write[]): void => {
      const ended = writtenRows(writes, messages).filter(({ status }) =>
        ["canceled", "expired", "failed"].includes(status),
      );
      const ids = new Set<string>(ended.map(({ id }) => id));
      for (const [message_id, { answer }] of answeredBy) {
        if (ids.has(answer)) answeredBy.delete(message_id);
      }
    };
    /** How many messages a run may still send: one, and one more after each approval. */
    const mayStillSend = new Map<string, number>();
    return {
      *commit(engine, writes) {
        const ended = endedRuns(writes);
        forgetEnded(writes);
        for (const message of agentMessages(writes)) {
          const { id, conversation_id, body } = message;
          const violation = (text: string): Violation => ({
            about: [id, conversation_id],
            description: `${engine}: ${text}`,
          });
          // The same commit may write other runs of the conversation, such as one that is redacted.
          const own = ended.filter((run) => run.sent_message_ids.includes(id));
          const [run] = own;
          if (run === undefined || own.length > 1) {
            yield violation(`message ${id} was sent by ${own.length} runs instead of one`);
            continue;
          }
          const left = mayStillSend.get(run.id) ?? 1;
          mayStillSend.set(run.id, left - 1);
          if (left === 0) yield violation(`${run.id} sent ${id}, though it had sent a message`);
          for (const message_id of run.message_ids) {
            const other = answeredBy.get(message_id)?.run ?? run.id;
            if (other !== run.id) {
              yield violation(
                `${run.id} answered ${message_id} with ${id}, as ${other} did before`,
              );
            }
            answeredBy.set(message_id, { run: run.id, answer: id });
          }
          if (run.request !== null || run.resumed) continue;
          const newer = readRows(database, messagesOfConversation, [conversation_id]).find(
            (each) =>
              each.direction === "inbound" &&
              each.keyword === null &&
              each.sequence > run.heard_through &&
              each.sequence < firstNumber(message),
          );
          if (newer !== undefined) {
            yield violation(`${id}, "${body ?? ""}", was sent although ${newer.id} had come in`);
          }
        }
        for (const { id, status } of writtenRows(writes, runs)) {
          if (status === "awaiting_approval") mayStillSend.set(id, (mayStillSend.get(id) ?? 1) + 1);
        }
      },
    };
  },
};

export const agentOwnsConversation: Invariant = {
  name: "An agent writes only in open conversations that are assigned to it.",
  check() {
    const states = new Map<string, Conversation>();
    return {
      *commit(engine, writes) {
        for (const change of conversationChanges(writes)) {
          if (change.kind === "state") states.set(change.conversation_id, change.conversation);
          if (change.kind !== "message" || change.message.author_type !== "agent") continue;
          const { id, conversation_id, author_id } = change.message;
          const { handler, status, assignee } = states.get(conversation_id) ?? {};
          if (handler === "ai" && status !== "closed" && assignee?.id === author_id) continue;
          const state = `${status ?? "unknown"}, handled by ${handler ?? "nobody"}, assigned to ${assignee?.id ?? "nobody"}`;
          yield {
            about: [id, conversation_id],
            description: `${engine}: ${author_id ?? ""} wrote ${id} in a conversation that was ${state}`,
          };
        }
      },
    };
  },
};

export const agentAnswersOrHandsOff: Invariant = {
  name: "A message to an agent is answered, handed off or superseded, unless the contact has opted out.",
  check({ database }) {
    /** Inbound messages that wait for an agent, by id. */
    const waiting = new Map<string, MessageRow>();
    const agents = new Map<string, string | undefined>();
    const forget = (conversation_id: string): void => {
      for (const [id, each] of waiting) {
        if (each.conversation_id === conversation_id) waiting.delete(id);
      }
    };
    /** An agent that gets the conversation later answers only what came after it. */
    const isAnswer = ({ author_type, direction, conversation_id }: MessageRow): boolean =>
      author_type === "human" ||
      (direction === "outbound" && agents.get(conversation_id) === undefined);
    const hasOptedOut = ({ account_id, mode, channel, from, to }: MessageRow): boolean =>
      readRows(database, identityByAddress, [account_id, mode, mediumOf(channel), from]).some(
        ({ consent, opted_out_of, opted_in_to }) =>
          opted_out_of.includes(to) || (consent === "opted_out" && !opted_in_to.includes(to)),
      );
    return {
      commit(_engine, writes) {
        for (const change of conversationChanges(writes)) {
          const { conversation_id } = change;
          if (change.kind === "state") {
            const { handler, status, assignee } = change.conversation;
            const agent = handler === "ai" && status !== "closed" ? assignee?.id : undefined;
            const before = agents.get(conversation_id);
            const last = [...waiting.values()].findLast(
              (each) => each.conversation_id === conversation_id,
            );
            if (agent !== before) forget(conversation_id);
            // The last inbound message triggers the agent. The earlier ones were not meant for it.
            if (before === undefined && last !== undefined) waiting.set(last.id, last);
            agents.set(conversation_id, agent);
          }
          if (change.kind === "message" && isAnswer(change.message)) forget(conversation_id);
          // What came before an opt-out stays unanswered, also if an opt-in follows in this commit.
          if (change.kind === "message" && change.message.keyword === "opt_out") {
            forget(conversation_id);
          }
          if (
            change.kind === "message" &&
            change.message.direction === "inbound" &&
            change.message.keyword === null
          ) {
            waiting.set(change.message.id, change.message);
          }
        }
        for (const id of removedIds(writes, conversations)) forget(id);
        // One answer covers all that was written, and goes to the address that wrote last, which
        // may have opted out though another address of the contact has not.
        const last = new Map(
          [...waiting.values()].map((message) => [message.conversation_id, message]),
        );
        for (const [conversation_id, message] of last) {
          if (agents.get(conversation_id) === undefined || hasOptedOut(message)) {
            forget(conversation_id);
          }
        }
        for (const { message_ids } of endedRuns(writes)) {
          for (const id of message_ids) waiting.delete(id);
        }
        return [];
      },
      async end() {
        return [...waiting.values()].flatMap((message): Violation[] => {
          const { id, conversation_id, sequence, account_id, mode } = message;
          const [conversation] = readRows(database, conversationById, [
            account_id,
            mode,
            conversation_id,
          ]);
          if (conversation?.handler !== "ai" || conversation.status === "closed") return [];
          if (agents.get(conversation_id) === undefined) return [];
          const description = `${id}, message ${sequence} of ${conversation_id}, was never answered by ${conversation.assignee_id ?? "its agent"}`;
          return [{ about: [id, conversation_id], description }];
        });
      },
    };
  },
};
