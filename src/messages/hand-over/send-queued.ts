import type { Runtime } from "../../operations/index.ts";
import type { SendAnswer } from "../../ports/index.ts";
import {
  checkUnansweredCommit,
  finish,
  isRearmed,
  keepOrUndo,
  retry,
  type Claim,
  type FirstStep,
  type JobHandler,
  type JobRun,
} from "../../queue/index.ts";
import { background, isStorageFailure, type Tx } from "../../store/index.ts";
import { attemptById } from "../rows.ts";
import { checkSendAnswer } from "../transport-results.ts";
import { beginNextAttempt, prefetchNextAttempt, type BegunAttempt } from "./begin-attempt.ts";
import { callCarrier, type CallResult } from "./call-carrier.ts";
import { recordAnswer } from "./record-answer.ts";
import { takeBack } from "./take-back.ts";

/** The maximum number of messages of one conversation in one run. Then other jobs run. */
const maxInARow = 50;

/** Hands over the queued messages of a conversation in order, one at a time. */
export function sendQueued(runtime: Runtime): JobHandler<"send"> {
  const { services, hostPolicies } = runtime;
  const handle = async (claim: Claim<"send">, run: JobRun): Promise<void> => {
    const sending = new SendRun(runtime, claim, run);
    await sending.sendFrom(await sending.beginNext(0));
  };
  const firstStep: FirstStep<"send"> = async (tx, claim) => {
    const hostVerdicts = hostPolicies.verdictsAtOnce;
    if (hostVerdicts === undefined) {
      return { run: (run) => handle(claim, run), undo: async () => {} };
    }
    const options = { services, hostVerdicts, endsRun: false };
    const begun = await beginNextAttempt(tx, claim, options);
    return {
      run: (run) => new SendRun(runtime, claim, run).sendFrom(begun),
      undo: async (later) => {
        if (begun !== undefined) await takeBack(later, services, claim, begun);
      },
    };
  };
  return Object.assign(handle, { firstStep, prefetch: prefetchNextAttempt });
}

/** One run of a conversation's job. */
class SendRun {
  readonly #runtime: Runtime;
  readonly #claim: Claim<"send">;
  readonly #run: JobRun;

  constructor(runtime: Runtime, claim: Claim<"send">, run: JobRun) {
    this.#runtime = runtime;
    this.#claim = claim;
    this.#run = run;
  }

  /** Calls the carrier for an attempt that has begun, then for the messages that wait behind it. */
  async sendFrom(first: BegunAttempt | undefined): Promise<void> {
    let begun = first;
    for (let sent = 1; begun !== undefined; sent++) {
      const result = await callCarrier(this.#runtime, begun, this.#run.abort);
      // The call may still go on. The engine that takes the job next records the lost answer.
      if (result === "aborted") return;
      if (result === "not_called") return this.#recordNotCalled(begun);
      if (result.unfinishedCall !== undefined) return this.#recordMissedDeadline(begun, result);
      // Recording an answer leads to no more calls then, so another job may begin.
      if (begun.isLast) this.#run.freeSlot();
      if (!(await this.#record(begun, result.answer))) return;
      begun = await this.beginNext(sent);
    }
  }

  /**
   * Begins an attempt for the next message. `sent` is the number of messages that the run has sent.
   * Returns undefined if none begins now, also because the run has sent enough or the engine stops.
   * The job is then released.
   */
  async beginNext(sent: number): Promise<BegunAttempt | undefined> {
    const { services, hostPolicies } = this.#runtime;
    let maybeStored: BegunAttempt | undefined;
    try {
      return await hostPolicies.commitWithVerdicts(
        this.#claim,
        async (tx, hostVerdicts) => {
          prefetchNextAttempt(tx, this.#claim.key);
          // The engine may have begun to stop while policies were evaluated.
          const endsRun = sent >= maxInARow || this.#run.stopping.aborted;
          const options = { services, hostVerdicts, endsRun };
          return (maybeStored = await beginNextAttempt(tx, this.#claim, options));
        },
        background,
      );
    } catch (error) {
      if (maybeStored === undefined || !isStorageFailure(error)) throw error;
      switch (await this.#checkBegun(maybeStored)) {
        case "claimed":
          return maybeStored;
        case "taken_back":
          return undefined;
        case "not_stored":
          throw error;
      }
    }
  }

  /**
   * Returns whether a begun attempt is stored, although the storage failed: the answer to the
   * commit may have been lost. If the claim has been lost since, the attempt is taken back: nobody
   * else knows that the carrier was not called, and the message would be ambiguous.
   */
  #checkBegun(begun: BegunAttempt): Promise<"claimed" | "taken_back" | "not_stored"> {
    const undo = (tx: Tx): Promise<void> => this.#takeBack(tx, begun);
    return checkUnansweredCommit(this.#runtime.clock, this.#run, () =>
      this.#commit(async (tx) => {
        if ((await tx.get(attemptById, [begun.attempt.id])) === undefined) return "not_stored";
        return (await keepOrUndo(tx, this.#claim, undo)) ? "claimed" : "taken_back";
      }),
    );
  }

  /**
   * Records the answer and returns whether this run goes on with the next message. A run whose
   * message was the last ends here, because it may have freed its slot. If a message waits now, the
   * job is due again.
   */
  #record(begun: BegunAttempt, answer: SendAnswer): Promise<boolean> {
    return this.#store(async (tx) => {
      const waits = await this.#recordAnswer(tx, begun, answer);
      if (!waits || !begun.isLast) return waits;
      // Usually, the message that waits has armed the job for its time.
      const isArmed = await isRearmed(tx, this.#claim);
      await finish(tx, this.#claim, isArmed ? {} : { againAt: tx.now });
      return false;
    });
  }

  /** Takes back an attempt for which no carrier was called. The job is then due again. */
  #recordNotCalled(begun: BegunAttempt): Promise<void> {
    return this.#store((tx) => this.#takeBack(tx, begun));
  }

  /** Records a missed deadline, and the late answer if it arrives. */
  async #recordMissedDeadline(
    begun: BegunAttempt,
    { answer, unfinishedCall }: CallResult,
  ): Promise<void> {
    await this.#store(async (tx) => {
      await this.#recordAnswer(tx, begun, answer);
      // This failure moves the job to the slow lane, so that a hanging carrier does not block the
      // jobs of others.
      await finish(tx, this.#claim, { againAt: tx.now, failure: "job" });
    });
    const { id: attempt_id, transport } = begun.attempt;
    const recordLate = async (lateAnswer: unknown): Promise<void> => {
      try {
        checkSendAnswer(transport, lateAnswer);
        await this.#record(begun, lateAnswer);
      } catch (error) {
        const facts = { err: error, attempt_id };
        this.#runtime.logger.warn(facts, "a late answer of a carrier could not be recorded");
      }
    };
    // A call that fails after its deadline adds nothing: its answer is recorded as lost.
    void unfinishedCall?.then(recordLate, () => {});
  }

  #recordAnswer(tx: Tx, begun: BegunAttempt, answer: SendAnswer): Promise<boolean> {
    return recordAnswer(tx, this.#runtime.services, this.#claim, begun, answer);
  }

  #takeBack(tx: Tx, begun: BegunAttempt): Promise<void> {
    return takeBack(tx, this.#runtime.services, this.#claim, begun);
  }

  /** Commits with retries, because only this process knows what is to be stored. */
  #store<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return retry(this.#runtime.clock, this.#run, () => this.#commit(work));
  }

  #commit<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#runtime.store.commit(this.#claim, work, background);
  }
}
