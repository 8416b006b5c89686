import { nextUnscored, recordScore, type Unscored } from "./score-message.ts";
import { withDeadline } from "../kernel/index.ts";
import { errorFacts, finish, type JobHandler, type JobRun, leaseMs } from "../queue/index.ts";
import type { MessageScoreRow } from "./rows.ts";
import { soundScore } from "../contacts/index.ts";
import type { Runtime } from "../operations/index.ts";

/** The deadline of the analyzer, in milliseconds. It is short: an agent may wait for the score before it answers. */
const scoreMs = 2_000;
const own = { own: true } as const;
/** Messages of one contact in one run. Then other jobs have their turn. */
const maxInARow = 50;

/**
 * Scores what contacts wrote, each contact's messages in their order. A score commits in the transaction that takes the next
 * message. Without an analyzer, messages that another engine left to be scored get no score.
 */
export function scoreMessages(runtime: Runtime): JobHandler<"score"> {
  const { store, services } = runtime;
  return async (claim, run) => {
    let scored: { readonly row: MessageScoreRow; readonly score: number | null } | undefined;
    for (let i = 0; !run.abort.aborted; i++) {
      const isLast = i >= maxInARow || run.isStopping();
      const next = await store.commit(
        claim,
        async (tx) => {
          if (scored !== undefined) await recordScore(tx, scored.row, scored.score, services);
          if (!isLast) return nextUnscored(tx, claim, leaseMs);
          await finish(tx, claim, { againAt: tx.now });
          return undefined;
        },
        own,
      );
      if (next === undefined) return;
      scored = { row: next.row, score: await scoreOf(runtime, next, run) };
    }
  };
}

async function scoreOf(
  { clock, logger, sentiment }: Runtime,
  { row, text }: Unscored,
  { abort }: JobRun,
): Promise<number | null> {
  if (sentiment === undefined || text === "") return null;
  try {
    const score = await withDeadline(
      clock,
      scoreMs,
      async () => sentiment.score(text),
      () => null,
      abort,
    );
    return soundScore(score);
  } catch (error) {
    // Nothing is recorded then: the next holder of the job scores the message.
    if (abort.aborted) return null;
    // The error's message may quote the contact's words, which must not be logged.
    const { name, code } = errorFacts(error);
    const err = { name, code };
    logger.warn({ err, message_id: row.message_id }, "a message could not be scored");
    return null;
  }
}
