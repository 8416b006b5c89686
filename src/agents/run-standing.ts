import { agentById, agentSessionOf, type AgentSessionRow } from "./rows.ts";
import { answersIn } from "./rules.ts";
import { conversationById, type ConversationRow } from "../conversations/index.ts";
import { type RunRow, runById } from "./runs/rows.ts";
import { isAside } from "./runs/rules.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { unansweredIn } from "./unanswered.ts";

interface Rows {
  readonly run: Seen<RunRow>;
  readonly conversation: Seen<ConversationRow>;
  /** Null for an action that was ordered by itself: it has no part in what an agent has in mind. */
  readonly session: Seen<AgentSessionRow> | null;
}

export type RunStanding =
  | (Rows & { readonly state: "current" })
  /** The contact has written more: that is answered first, or with the rest. */
  | (Rows & { readonly state: "overtaken" })
  /** The conversation is not the agent's any more, what it was about is answered, or the run is not open. */
  | { readonly state: "over" };

/**
 * Whether a run may still do something, and say something. The rows are held: what a person, the contact or an erasure does at this moment
 * comes before, and is seen, or after.
 */
export async function runStanding(
  tx: Tx,
  { id, agent_id, conversation_id }: RunRow,
): Promise<RunStanding> {
  const [run, conversation, session, agent] = await Promise.all([
    tx.get(runById, [id], { hold: true }),
    tx.get(conversationById, [conversation_id], { hold: true }),
    tx.get(agentSessionOf, [conversation_id], { hold: true }),
    tx.get(agentById, [agent_id], { hold: true }),
  ]);
  if (run?.open !== true || conversation === undefined) return { state: "over" };
  // It says nothing to anybody.
  if (run.request?.type === "action") return { state: "current", run, conversation, session: null };
  if (session === undefined || !answersIn(agent, conversation)) return { state: "over" };
  const rows = { run, conversation, session };
  const last = (await unansweredIn(tx, conversation, session)).at(-1);
  // Said now, what it asks would be taken to be answered already.
  if (isAside(run)) return { state: last === undefined ? "current" : "overtaken", ...rows };
  // A person has answered meanwhile, and given the conversation back.
  if (last === undefined) return { state: "over" };
  return { state: last.sequence > run.heard ? "overtaken" : "current", ...rows };
}
