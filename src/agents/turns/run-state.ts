import { conversationById } from "../../conversations/index.ts";
import type { MessageRow } from "../../messages/index.ts";
import type { Tx } from "../../store/index.ts";
import { mayAnswerIn } from "../find-agent.ts";
import { findUnanswered } from "../handling/answered-messages.ts";
import { agentById, agentSessionOf } from "../rows.ts";
import { runById, type RunRow } from "../runs/rows.ts";
import { answersMessages } from "../runs/rules.ts";
import type { FoundTurn } from "./turn-types.ts";

/** A run with its conversation and session, as they are now. */
type RunRows = Omit<FoundTurn, "agent">;

export type RunState =
  | (RunRows & {
      readonly state: "current";
      /** The messages that the run answers, oldest first. Empty if it answers none. */
      readonly answers: readonly MessageRow[];
    })
  /**
   * The contact has written more. A triggered or resumed run waits until those messages are
   * answered. A run that answers messages takes them in.
   */
  | (RunRows & { readonly state: "overtaken" })
  /**
   * The agent no longer handles the conversation, or the run's messages are answered. The next turn
   * cancels the run. The session is null if it is not the agent's.
   */
  | (RunRows & { readonly state: "dropped" })
  /** The run is not open. `run` is undefined if the run or its conversation was erased. */
  | (Pick<RunRows, "session"> & {
      readonly state: "closed";
      readonly run: RunRows["run"] | undefined;
    });

/**
 * Returns how a run stands: whether it may still act and reply. The rows are held: a concurrent
 * change by a person, the contact or an erasure commits either before this and is seen, or after
 * it.
 */
export async function readRunState(
  tx: Tx,
  { id, agent_id, conversation_id }: RunRow,
): Promise<RunState> {
  const [run, conversation, session, agent] = await Promise.all([
    tx.get(runById, [id], { hold: true }),
    tx.get(conversationById, [conversation_id], { hold: true }),
    tx.get(agentSessionOf, [conversation_id], { hold: true }),
    tx.get(agentById, [agent_id], { hold: true }),
  ]);
  const own = session?.agent_id === agent_id ? session : null;
  if (conversation === undefined) return { state: "closed", run: undefined, session: null };
  if (run?.open !== true) return { state: "closed", run, session: own };
  // A single action sends nothing.
  if (run.request?.type === "action") {
    return { state: "current", run, conversation, session: null, answers: [] };
  }
  const rows = { run, conversation, session: own };
  if (own === null || !mayAnswerIn(agent, conversation)) return { state: "dropped", ...rows };
  const unanswered = await findUnanswered(tx, conversation, own);
  const last = unanswered.at(-1);
  if (!answersMessages(run)) {
    // Such a run waits until the contact's messages are answered: they would be read as the answer
    // to the question that it sends now.
    if (last !== undefined) return { state: "overtaken", ...rows };
    return { state: "current", ...rows, answers: [] };
  }
  // Nothing is left to answer: a person answered before handing the conversation back.
  if (last === undefined) return { state: "dropped", ...rows };
  if (last.sequence > run.heard_through) return { state: "overtaken", ...rows };
  return { state: "current", ...rows, answers: unanswered };
}
