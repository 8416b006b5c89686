import { conversationById } from "../../conversations/index.ts";
import type { Scope } from "../../kernel/index.ts";
import {
  FailureLog,
  finish,
  mayPass,
  retryWhileLeased,
  type JobHandler,
} from "../../queue/index.ts";
import { background, type Reads, type Tx } from "../../store/index.ts";
import { toModelAction } from "../actions/show-actions.ts";
import type { AgentRuntime } from "../agent-runtime.ts";
import { mayAnswerIn } from "../find-agent.ts";
import { agentById } from "../rows.ts";
import type { RunRow } from "../runs/rows.ts";
import { beginTurn } from "./begin-turn.ts";
import { endTurn, failTurn, saveTurn } from "./end-turn.ts";
import { MoveMaker, type MoveMakerOptions } from "./execution/make-moves.ts";
import { readFacts } from "./read-facts.ts";
import type { BegunTurn } from "./turn-types.ts";

/** Failures of one conversation's turns in a row. */
const maxFailures = 5;

/**
 * Runs an agent's turn in a conversation. No transaction is open while the model works: the
 * transaction that ends the turn checks whether its result still applies.
 */
export function runTurn(runtime: AgentRuntime): JobHandler<"turn"> {
  const { store, logger, services, agents } = runtime;
  const modelActions = new Map(
    [...services.actions].map(([name, action]) => [name, toModelAction(action)]),
  );
  const outages = new FailureLog({
    ...runtime,
    failureText: "the outcome of an agent's turn could not be stored; retrying",
    recoveryText: "the outcomes of agents' turns can be stored again",
  });
  return async (claim, { abort, stopping }) => {
    if (agents === undefined) throw new Error("no agents are set up here");
    const begun = await store.commit(claim, (tx) => beginTurn(tx, claim, services), background);
    if (begun === undefined) return;
    const over = new AbortController();
    void showTyping(runtime, claim, begun, AbortSignal.any([abort, over.signal]));
    try {
      const options = { runtime, agents, modelActions, claim, begun, abort, stopping };
      await runBegunTurn(options, outages);
    } catch (error) {
      // An outage of the storage ends, and people could not answer during it either.
      if (abort.aborted || mayPass(error) || claim.failures + 1 < maxFailures) throw error;
      logger.error(
        { err: error, run_id: begun.run.id },
        "a turn failed repeatedly; the conversation is handed off to people",
      );
      await store.commit(claim, (tx) => failTurn(tx, claim, begun), background);
    } finally {
      over.abort();
    }
  };
}

/** How often a turn reports that its agent is typing, in milliseconds. */
const typingMs = 3_000;

/**
 * Shows the visitor of a webchat that the agent is typing, until `over` aborts or the agent no
 * longer handles the conversation.
 */
async function showTyping(
  { store, signals, clock }: AgentRuntime,
  scope: Scope,
  { run, conversation, session, agent }: BegunTurn,
  over: AbortSignal,
): Promise<void> {
  // A single action from a trigger answers nobody.
  if (conversation.medium !== "webchat" || session === null) return;
  const { id: conversation_id, contact_id } = conversation;
  const author = { type: "agent", id: run.agent_id } as const;
  let isTyping = true;
  while (isTyping) {
    signals.publish(scope, { conversation_id, contact_id, author, author_name: agent.name });
    await clock.sleep(typingMs, over);
    isTyping = !over.aborted && (await isHandling(store.reads(scope), run));
  }
}

/** Whether the agent of a run still handles its conversation. False if that cannot be read. */
async function isHandling(reads: Reads, { agent_id, conversation_id }: RunRow): Promise<boolean> {
  try {
    const [agent, conversation] = await Promise.all([
      reads.get(agentById, [agent_id]),
      reads.get(conversationById, [conversation_id]),
    ]);
    return conversation !== undefined && mayAnswerIn(agent, conversation);
  } catch {
    return false;
  }
}

/** Takes a turn that has begun, and ends it with its outcome. */
async function runBegunTurn(
  options: Omit<MoveMakerOptions, "facts">,
  outages: FailureLog,
): Promise<void> {
  const { runtime, claim, begun } = options;
  const { store, clock, logger, services, hostPolicies } = runtime;
  const facts = await readFacts(store.reads(claim), begun, services, clock.now());
  const maker = new MoveMaker({ ...options, facts });
  const outcome = await maker.run();
  const save = (tx: Tx): Promise<boolean> => saveTurn(tx, claim, begun, maker.progress);
  if (outcome === undefined) {
    // A person took over, the contact wrote meanwhile, or the engine stops. The next turn finds out
    // which. A call that is still under way has until the lease lapses.
    if (maker.isCalling) return;
    const release = async (tx: Tx): Promise<void> => {
      if (await save(tx)) await finish(tx, claim, { againAt: tx.now });
    };
    return store.commit(claim, release, background);
  }
  try {
    // Without the retries, an outage would cost the answer, and the model would be called again.
    await retryWhileLeased({ store, clock, outages }, claim, options, () =>
      hostPolicies.commitWithVerdicts(
        claim,
        (tx, hostVerdicts) => endTurn(tx, claim, begun, outcome, { services, hostVerdicts }),
        background,
      ),
    );
  } catch (error) {
    // For example, a policy failed. The turn is taken again, but it has used tokens already.
    await store.commit(claim, save, background).catch((err: unknown) => {
      logger.warn({ err, run_id: begun.run.id }, "the tokens of a failed turn were not saved");
    });
    throw error;
  }
}
