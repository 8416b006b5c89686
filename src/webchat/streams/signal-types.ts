/** What streams tell besides messages: the state of a conversation, and who is typing. */
import * as z from "zod";
import { person } from "../../conversations/index.ts";
import { filterById, timestamp, type Author, type ConversationId } from "../../kernel/index.ts";

/** The person or AI agent who has a visitor's conversation. */
export interface WebchatAssignee {
  /** `human`: a person of the host application. `agent`: an AI agent. */
  readonly type: "human" | "agent";
  /** The name of the agent or of the operator. Null if it is not known. */
  readonly name: string | null;
}

export const webchatAssigneeSchema = z
  .strictObject({
    type: z.enum(["human", "agent"]),
    name: z.string().nullable(),
  })
  .meta({ id: "WebchatAssignee" });

/** What a visitor sees of the conversation besides its messages. */
export interface WebchatState {
  /**
   * The visitor's messages that were created by then have been read by a person, or answered by a
   * person or an AI agent. Null if none has.
   */
  readonly read_at: string | null;
  /** Who has the conversation. Null while nobody has it, as after a hand-off. */
  readonly assignee: WebchatAssignee | null;
  /** Whether the conversation waits for a person to take it, as after a hand-off. */
  readonly queued: boolean;
}

export const webchatStateSchema = z
  .strictObject({
    read_at: timestamp.nullable(),
    assignee: webchatAssigneeSchema.nullable(),
    queued: z.boolean(),
  })
  .meta({ id: "WebchatState" });

/** Somebody is typing to the visitor now. It holds for 6 seconds, or until the message arrives. */
export interface WebchatTyping {
  /** `human`: a person of the host application. `agent`: an AI agent. */
  readonly author: "human" | "agent";
  /** The name of the agent or of the operator. Null if it is not known. */
  readonly author_name: string | null;
}

/** What a visitor's stream sends besides messages. */
export type WebchatSignal =
  | {
      /** The state of the conversation: first when the stream opens, then after each change. */
      readonly type: "state";
      /** The state now. */
      readonly state: WebchatState;
    }
  | {
      /** Somebody is typing. */
      readonly type: "typing";
      /** Who is typing. */
      readonly typing: WebchatTyping;
    };

/** Somebody is typing in a webchat conversation now. It holds for 6 seconds. */
export interface Typing {
  /** The conversation. */
  readonly conversation_id: ConversationId;
  /** Who is typing: the contact, a person or an AI agent. */
  readonly author: Author;
}

/** Tells that a person is typing. */
export interface ShowTyping {
  /** The host application's id of the person. Operators of pages must leave it out. */
  readonly author_id?: string | undefined;
}

export const showTypingSchema = z
  .strictObject({ author_id: person.optional() })
  .meta({ id: "ShowTyping" });

/** Which conversations to watch. */
export interface WatchTyping {
  /** Only this conversation. All conversations by default. */
  readonly conversation_id?: string | undefined;
}

export const watchTypingSchema = z
  .strictObject({ conversation_id: filterById("conversation").optional() })
  .meta({ interface: "WatchTyping" });
