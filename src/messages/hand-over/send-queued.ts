import { background, isStorageFailure, type Tx } from "../../store/index.ts";
import { type BegunAttempt, beginNextAttempt, prefetchNextAttempt } from "./begin-attempt.ts";
import { recordAnswer } from "./record-answer.ts";
import {
  checkUnansweredCommit,
  type Claim,
  finish,
  type FirstStep,
  isRearmed,
  type JobHandler,
  type JobRun,
  keepOrUndo,
  retry,
} from "../../queue/index.ts";
import { attemptById } from "../rows.ts";
import { noVerdicts, type Runtime } from "../../operations/index.ts";
import type { SendAnswer } from "../../ports/index.ts";
import { callCarrier, type Called } from "./call-carrier.ts";
import { takeBack } from "./take-back.ts";
import { checkSendAnswer } from "../transport-results.ts";

/** The maximum number of messages of one conversation in one run. Then other jobs run. */
const maxInARow = 50;

/** Hands over the queued messages of a conversation in order, one at a time. */
export function sendQueued(runtime: Runtime): JobHandler<"send"> {
  const { services, hostPolicies } = runtime;
  const handle = async (claim: Claim<"send">, run: JobRun): Promise<void> =>
    sendFrom(runtime, claim, run, await beginNext(runtime, claim, run));
  const firstStep: FirstStep<"send"> = async (tx, claim) => {
    const options = { services, hostVerdicts: noVerdicts, endsRun: false };
    const begun = await beginNextAttempt(tx, claim, options);
    return {
      run: (run) => sendFrom(runtime, claim, run, begun),
      undo: async (later) => {
        if (begun !== undefined) await takeBack(later, services, claim, begun);
      },
    };
  };
  // Policies of the host application are evaluated outside of the engine's transactions.
  return Object.assign(
    handle,
    hostPolicies.any ? {} : { firstStep, prefetch: prefetchNextAttempt },
  );
}

/** Calls the carrier for an attempt that has begun, then for the messages that wait behind it. */
async function sendFrom(
  runtime: Runtime,
  claim: Claim<"send">,
  run: JobRun,
  first: BegunAttempt | undefined,
): Promise<void> {
  let begun = first;
  for (let i = 1; begun !== undefined; i++) {
    const called = await callCarrier(runtime, begun, run.abort);
    // The call may still go on. The engine that takes the job next records the lost answer.
    if (called === "aborted") return;
    if (called === "not called") return recordNotCalled(runtime, claim, run, begun);
    if (called.unfinishedCall !== undefined) {
      return recordMissedDeadline(runtime, claim, run, begun, called);
    }
    if (begun.isLast) run.freeSlot();
    if (!(await record(runtime, claim, run, begun, called.answer))) return;
    begun = await beginNext(runtime, claim, run, i >= maxInARow);
  }
}

/**
 * Begins an attempt for the next message. Returns undefined if none begins now; the job is then
 * released. That is so if the run has sent enough, or the engine stops.
 */
async function beginNext(
  runtime: Runtime,
  claim: Claim<"send">,
  run: JobRun,
  hasSentEnough = false,
): Promise<BegunAttempt | undefined> {
  const { services, hostPolicies } = runtime;
  let maybeStored: BegunAttempt | undefined;
  try {
    return await hostPolicies.commit(
      claim,
      async (tx, hostVerdicts) => {
        prefetchNextAttempt(tx, claim.key);
        // The engine may have begun to stop while policies were evaluated.
        const endsRun = hasSentEnough || run.stopping.aborted;
        return (maybeStored = await beginNextAttempt(tx, claim, {
          services,
          hostVerdicts,
          endsRun,
        }));
      },
      background,
    );
  } catch (error) {
    if (maybeStored === undefined || !isStorageFailure(error)) throw error;
    switch (await checkBegun(runtime, claim, run, maybeStored)) {
      case "claimed":
        return maybeStored;
      case "taken back":
        return undefined;
      case "not stored":
        throw error;
    }
  }
}

/**
 * Returns whether a begun attempt is stored, although the storage failed: the answer to the commit
 * may have been lost. If the claim has been lost since, the attempt is taken back: nobody else
 * knows that the carrier was not called, and the message would be ambiguous.
 */
function checkBegun(
  { store, clock, services }: Runtime,
  claim: Claim<"send">,
  { abort }: JobRun,
  begun: BegunAttempt,
): Promise<"claimed" | "taken back" | "not stored"> {
  const undo = (tx: Tx): Promise<void> => takeBack(tx, services, claim, begun);
  return checkUnansweredCommit(clock, abort, () =>
    store.commit(
      claim,
      async (tx) => {
        if ((await tx.get(attemptById, [begun.attempt.id])) === undefined) return "not stored";
        return (await keepOrUndo(tx, claim, undo)) ? "claimed" : "taken back";
      },
      background,
    ),
  );
}

/**
 * Records the answer and returns whether this run goes on with the next message. A run whose
 * message was the last ends here, because it may have freed its slot. If a message waits now, the
 * job is due again. Only this process knows the answer, so the commit is retried.
 */
function record(
  { store, clock, services }: Runtime,
  claim: Claim<"send">,
  { abort }: JobRun,
  begun: BegunAttempt,
  answer: SendAnswer,
): Promise<boolean> {
  return retry(clock, abort, () =>
    store.commit(
      claim,
      async (tx) => {
        const waits = await recordAnswer(tx, services, claim, begun, answer);
        if (!waits || !begun.isLast) return waits;
        // Usually, the message that waits has armed the job for its time.
        await finish(tx, claim, (await isRearmed(tx, claim)) ? {} : { againAt: tx.now });
        return false;
      },
      background,
    ),
  );
}

/** Takes an attempt back with which no carrier was called. The job is then due again. */
function recordNotCalled(
  { store, clock, services }: Runtime,
  claim: Claim<"send">,
  { abort }: JobRun,
  begun: BegunAttempt,
): Promise<void> {
  return retry(clock, abort, () =>
    store.commit(claim, (tx) => takeBack(tx, services, claim, begun), background),
  );
}

/** Records a missed deadline, and the late answer if it arrives. */
async function recordMissedDeadline(
  runtime: Runtime,
  claim: Claim<"send">,
  run: JobRun,
  begun: BegunAttempt,
  { answer, unfinishedCall }: Called,
): Promise<void> {
  const { store, clock, logger, services } = runtime;
  await retry(clock, run.abort, () =>
    store.commit(
      claim,
      async (tx) => {
        await recordAnswer(tx, services, claim, begun, answer);
        // Move to the slow lane, so that a hanging carrier does not block the jobs of others.
        await finish(tx, claim, { againAt: tx.now, failed: true });
      },
      background,
    ),
  );
  const { id: attempt_id, transport } = begun.attempt;
  const recordLate = async (lateAnswer: unknown): Promise<void> => {
    try {
      checkSendAnswer(transport, lateAnswer);
      await record(runtime, claim, run, begun, lateAnswer);
    } catch (error) {
      logger.warn({ err: error, attempt_id }, "a late answer of a carrier could not be recorded");
    }
  };
  // A call that fails after its deadline adds nothing: its answer is recorded as lost.
  void unfinishedCall?.then(recordLate, () => {});
}
