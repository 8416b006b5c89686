import type { Claim } from "../../queue/index.ts";
import type { WebhookRuntime } from "../options.ts";
import type { DrainJob } from "./drain-job.ts";
import type { DrainRequests } from "./drain-requests.ts";
import type { ReadAhead } from "./read-ahead.ts";
import { recordAttempts, type UnrecordedAttempt } from "./record-attempts.ts";
import { isSuccess } from "./schedule.ts";

/** When this many attempts have ended, they are recorded without waiting for others. */
const fullBatch = 32;

interface EndedAttemptsOptions {
  readonly runtime: Pick<WebhookRuntime, "store">;
  readonly claim: Claim<"deliver">;
  readonly job: DrainJob;
  /** The requests of other attempts. */
  readonly requests: DrainRequests;
  /** The deliveries that wait for their attempt. */
  readonly ahead: ReadAhead;
  /** Called after each batch. */
  readonly onRecorded: (batch: readonly UnrecordedAttempt[]) => void;
}

/** The attempts of a drain that have ended. Records them in batches. */
export class EndedAttempts {
  readonly #options: EndedAttemptsOptions;
  #unrecorded: UnrecordedAttempt[] = [];
  /** Failed attempts that are not yet recorded. */
  #unrecordedFailures = 0;
  #isRecording = false;
  #mayEndDrain = false;

  constructor(options: EndedAttemptsOptions) {
    this.#options = options;
  }

  /**
   * Whether no attempt may begin before a commit: a failure may pause or disable the webhook, and
   * the transaction that records attempts may end the drain.
   */
  get mustBeRecordedFirst(): boolean {
    return this.#unrecordedFailures > 0 || this.#mayEndDrain;
  }

  add(attempt: UnrecordedAttempt): void {
    this.#unrecorded.push(attempt);
    if (!isSuccess(attempt.outcome)) this.#unrecordedFailures++;
  }

  /** Records the attempts, one batch after the other. */
  async record(): Promise<void> {
    const { claim, job, requests, ahead, onRecorded } = this.#options;
    if (this.#isRecording) return;
    this.#isRecording = true;
    while (this.#unrecorded.length > 0) {
      await this.#waitForBatch();
      const batch = this.#unrecorded;
      this.#unrecorded = [];
      const mayEnd = !requests.isAnyUnderWay && ahead.isEmpty;
      this.#mayEndDrain = mayEnd;
      await job.trackLease(() => job.commit((tx) => recordAttempts(tx, claim, batch, { mayEnd })));
      this.#mayEndDrain = false;
      this.#unrecordedFailures -= batch.filter(({ outcome }) => !isSuccess(outcome)).length;
      onRecorded(batch);
    }
    this.#isRecording = false;
  }

  /**
   * Waits as long as more attempts keep ending, so that attempts that end at about the same time
   * are recorded together.
   */
  async #waitForBatch(): Promise<void> {
    const { runtime, requests } = this.#options;
    for (let before = 0; before < this.#unrecorded.length && this.#unrecorded.length < fullBatch;) {
      before = this.#unrecorded.length;
      if (requests.isAnyUnderWay) await runtime.store.yieldToEventLoop();
    }
  }
}
