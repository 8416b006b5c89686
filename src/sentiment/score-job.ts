import { nextUnscored, recordScore, type Unscored } from "./score-message.ts";
import { withDeadline } from "../queue/deadline.ts";
import { type JobHandler, leaseMs, type Turn } from "../queue/dispatcher.ts";
import { finish } from "../queue/rows.ts";
import type { MessageScoreRow } from "./rows.ts";
import { soundScore } from "../contacts/sentiment-rules.ts";
import type { DrawId } from "../kernel/ids.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { SentimentAnalyzer } from "../ports/sentiment.ts";
import type { Store } from "../store/store.ts";
import { errorFacts } from "../queue/error-facts.ts";
import { scopeOf } from "../queue/scope.ts";

export interface ScoreWork {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly drawId: DrawId;
  /** Without one, what another engine left to be scored gets no score. */
  readonly analyzer: SentimentAnalyzer | undefined;
}

/** What takes longer is not worth waiting for: an agent may wait for it before it answers. */
const scoreMs = 2_000;
const own = { own: true } as const;
/** Messages of one contact in one go; then others have their turn. */
const mostInARow = 50;

/** Scores what contacts wrote, each contact's messages in their order. A score commits with the next message's turn. */
export function scoreHandler({ store, clock, logger, drawId, analyzer }: ScoreWork): JobHandler {
  const scoreOf = async ({ row, text }: Unscored, { abort }: Turn): Promise<number | null> => {
    if (analyzer === undefined || text === "") return null;
    try {
      const score = await withDeadline(
        clock,
        scoreMs,
        abort,
        async () => analyzer.score(text),
        () => null,
      );
      return soundScore(score);
    } catch (error) {
      // Nothing is recorded then: whoever has the job next scores it.
      if (abort.aborted) return null;
      // Its message may quote the words that it was given, and they have no place in a log.
      const { name, code } = errorFacts(error);
      logger.warn(
        { err: { name, code }, message_id: row.message_id },
        "a message could not be scored",
      );
      return null;
    }
  };

  return {
    kind: "score",
    async run(claim, turn) {
      let scored: { readonly row: MessageScoreRow; readonly score: number | null } | undefined;
      for (let i = 0; !turn.abort.aborted; i++) {
        const isLast = i >= mostInARow || turn.isStopping();
        const next = await store.commit(
          scopeOf(claim),
          async (tx) => {
            if (scored !== undefined) await recordScore(tx, scored.row, scored.score, drawId);
            if (!isLast) return nextUnscored(tx, claim, leaseMs);
            await finish(tx, claim, { againAt: tx.now });
            return undefined;
          },
          own,
        );
        if (next === undefined) return;
        scored = { row: next.row, score: await scoreOf(next, turn) };
      }
    },
  };
}
