import { shownAction } from "./actions.ts";
import { readFacts } from "./read-facts.ts";
import { beginTurn } from "./begin-turn.ts";
import { endTurn } from "./end-turn.ts";
import { failTurn } from "./fail-turn.ts";
import type { BegunTurn } from "./turn-rows.ts";
import { type Claim, finish, type JobHandler, leaseMs } from "../queue/index.ts";
import type { AgentSettings } from "./options.ts";
import type { ModelAction } from "../ports/index.ts";
import type { AgentRuntime } from "./options.ts";
import { TurnRun } from "./turn-run.ts";

const own = { own: true } as const;
/** Failures of one conversation's turns in a row. */
const maxFailures = 5;

/**
 * Runs an agent's turn in a conversation. No transaction is open while the model works: the transaction that ends the turn
 * checks whether its result still applies.
 */
export function runTurn(runtime: AgentRuntime): JobHandler<"turn"> {
  const { store, logger, services, agents } = runtime;
  const shown = new Map([...services.actions].map(([name, action]) => [name, shownAction(action)]));
  return async (claim, { abort }) => {
    if (agents === undefined) throw new Error("no agents are set up here");
    const begun = await store.commit(
      claim,
      (tx) => beginTurn(tx, claim, { leaseMs, services }),
      own,
    );
    if (begun === undefined) return;
    try {
      await take(runtime, claim, begun, { agents, shown, abort });
    } catch (error) {
      if (abort.aborted || claim.failures + 1 < maxFailures) throw error;
      logger.error(
        { err: error, run_id: begun.run.id },
        "a turn failed again and again; the conversation is left to people",
      );
      await store.commit(claim, (tx) => failTurn(tx, claim, begun, { leaseMs, services }), own);
    }
  };
}

interface TakeOptions {
  readonly agents: AgentSettings;
  readonly shown: ReadonlyMap<string, ModelAction>;
  readonly abort: AbortSignal;
}

async function take(
  runtime: AgentRuntime,
  claim: Claim<"turn">,
  begun: BegunTurn,
  { agents, shown, abort }: TakeOptions,
): Promise<void> {
  const { store, clock, services, hostPolicies } = runtime;
  const facts = await readFacts(store.reads(claim), begun, services.language, clock.now());
  const turn = new TurnRun({ runtime, agents, shown, claim, begun, facts, abort });
  const outcome = await turn.run();
  if (outcome !== undefined) {
    await hostPolicies.commit(
      claim,
      (tx, hostOpinions) => endTurn(tx, claim, begun, outcome, { leaseMs, services, hostOpinions }),
      own,
    );
  } else if (!turn.isCalling) {
    // A person took over, the contact wrote meanwhile, or the engine stops. The next turn finds out which. A call that is
    // still under way has until the lease lapses.
    await store.commit(claim, (tx) => finish(tx, claim, { againAt: tx.now }), own);
  }
}
