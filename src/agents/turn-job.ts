import { shownAction } from "./actions.ts";
import { readFacts } from "./read-facts.ts";
import { beginTurn } from "./begin-turn.ts";
import { endTurn } from "./end-turn.ts";
import { failTurn } from "./fail-turn.ts";
import type { BegunTurn } from "./turn-rows.ts";
import type { JobHandler } from "../queue/dispatcher.ts";
import { leaseMs } from "../queue/dispatcher.ts";
import { finish } from "../queue/rows.ts";
import type { Claim } from "../queue/types.ts";
import type { AgentSettings } from "../options.ts";
import type { CarrierWork } from "../messages/send-job.ts";
import { TurnRun } from "./turn-run.ts";
import { scopeOf } from "../queue/scope.ts";

export interface TurnWork extends Pick<
  CarrierWork,
  "store" | "clock" | "logger" | "services" | "policies"
> {
  /** Without it no turn is run here. */
  readonly agents: AgentSettings | undefined;
}

const own = { own: true } as const;
/** In a row, of one conversation's turns. */
const mostFailures = 5;

/** Answers a conversation for its agent. No transaction is open while anybody thinks: what was decided is checked in the one that ends it. */
export function turnHandler(work: TurnWork): JobHandler {
  const { store, clock, logger, services, policies, agents } = work;
  const shown = new Map([...services.actions].map(([name, action]) => [name, shownAction(action)]));

  async function take(
    claim: Claim,
    begun: BegunTurn,
    abort: AbortSignal,
    settings: AgentSettings,
  ): Promise<void> {
    const facts = await readFacts(store.reads(begun.run), begun, clock.now());
    const turn = new TurnRun({ ...work, agents: settings, shown, claim, begun, facts, abort });
    const outcome = await turn.run();
    if (outcome !== undefined) {
      await policies.commit(
        begun.run,
        (tx, hostOpinions) =>
          endTurn(tx, claim, begun, outcome, { leaseMs, services, hostOpinions }),
        own,
      );
    } else if (!turn.isCalling) {
      // Somebody has taken over, or has written meanwhile, or the engine stops: the turn that follows finds out which. A call that is
      // under way has until the lease lapses.
      await store.commit(begun.run, (tx) => finish(tx, claim, { againAt: tx.now }), own);
    }
  }

  return {
    kind: "turn",
    async run(claim, { abort }) {
      if (agents === undefined) throw new Error("no agents are set up here");
      const begun = await store.commit(
        scopeOf(claim),
        (tx) => beginTurn(tx, claim, { leaseMs, services }),
        own,
      );
      if (begun === undefined) return;
      try {
        await take(claim, begun, abort, agents);
      } catch (error) {
        if (abort.aborted || claim.failures + 1 < mostFailures) throw error;
        logger.error(
          { err: error, run_id: begun.run.id },
          "a turn failed again and again; it is left to people",
        );
        await store.commit(
          begun.run,
          (tx) => failTurn(tx, claim, begun, { leaseMs, services }),
          own,
        );
      }
    },
  };
}
