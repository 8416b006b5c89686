/** What a visitor sees of a conversation besides the texts: names, who answers, what was read. */
import { agentById } from "../../agents/index.ts";
import { currentConversation, type ConversationRow } from "../../conversations/index.ts";
import { isoOrNull, type Author, type ContactId } from "../../kernel/index.ts";
import { operatorById } from "../../operators/index.ts";
import type { Reads } from "../../store/index.ts";
import type { WebchatAssignee, WebchatState } from "./signal-types.ts";

/** Returns the name that visitors see of an author, or null. */
type NameOf = (author: Author) => string | null;

/** Reads the names of agents and people in two round trips. */
export async function readNames(reads: Reads, authors: readonly Author[]): Promise<NameOf> {
  const idsOf = (type: Author["type"]): (readonly [string])[] => {
    const own = authors.filter((author) => author.type === type);
    return [...new Set(own.flatMap(({ id }) => (id === undefined ? [] : [id])))].map((id) => [id]);
  };
  const [people, agents] = await Promise.all([
    reads.getAll(operatorById, idsOf("human")),
    reads.getAll(agentById, idsOf("agent")),
  ]);
  const names = {
    human: new Map<string, string>(people.map(({ id, name }) => [id, name])),
    agent: new Map<string, string>(agents.map(({ id, name }) => [id, name])),
  };
  return ({ type, id = "" }) =>
    type === "human" || type === "agent" ? (names[type].get(id) ?? null) : null;
}

/** Reads the state of the contact's latest conversation on webchat. */
export async function readState(reads: Reads, contact_id: ContactId): Promise<WebchatState> {
  const row = await reads.get(currentConversation, [contact_id, "webchat"]);
  if (row === undefined) return { read_at: null, assignee: null, queued: false };
  return {
    read_at: isoOrNull(row.read_at),
    assignee: await readAssignee(reads, row),
    queued: row.handler === "queue" && row.status !== "closed",
  };
}

/**
 * Returns the person or agent who has the conversation. After a hand-off nobody has it, although
 * the agent stays assigned. A person who replied without a name has it too.
 */
async function readAssignee(
  reads: Reads,
  { status, handler, assignee_type, assignee_id }: ConversationRow,
): Promise<WebchatAssignee | null> {
  const type = handler === "human" ? "human" : handler === "ai" ? "agent" : undefined;
  if (type === undefined || status === "closed") return null;
  if (assignee_type !== type || assignee_id === null) return { type, name: null };
  const author: Author = { type, id: assignee_id };
  const nameOf = await readNames(reads, [author]);
  return { type, name: nameOf(author) };
}
