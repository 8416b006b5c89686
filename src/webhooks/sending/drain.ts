import { endWebhookDrain } from "./release-job.ts";
import { type NextDelivery, ReadAhead } from "./read-ahead.ts";
import { recordAttempts, type UnrecordedAttempt } from "./record-attempts.ts";
import { type DeliveryId, type Scope, SharedDeadline, TidingsError } from "../../kernel/index.ts";
import { type Claim, type JobRun, leaseMs, renew, retry, WakeFlag } from "../../queue/index.ts";
import { RequestLimit } from "./request-limit.ts";
import { isSuccess } from "./schedule.ts";
import type { WebhookRow } from "../rows.ts";
import type { HttpSettings, WebhookRuntime } from "../options.ts";
import { deliveryPoster, missedDeadline, type PostDelivery } from "./post-delivery.ts";
import { background, type Tx } from "../../store/index.ts";

interface WebhookDrainOptions {
  readonly runtime: WebhookRuntime;
  readonly http: HttpSettings;
  readonly claim: Claim<"deliver">;
  readonly run: JobRun;
}

/**
 * The limits of one drain: the number of attempts, and the time in which attempts begin. After
 * either limit, the drain ends, so that others run. But as long as an attempt that began in time is
 * under way, more begin, up to the number: one slow response does not hold up the rest.
 */
const maxDrainAttempts = 10_000;
const beginMs = 10_000;
/** The maximum number of attempts that are under way or not yet recorded. */
const maxUnfinished = 64;
/** When this many attempts have ended, they are recorded without waiting for others. */
const fullBatch = 32;
/**
 * The maximum number of rounds in which attempts are recorded. Each round is a call of `retry`; all
 * together take about a minute, the length of a lease.
 */
const maxRecordRounds = 10;
/**
 * How often the drain looks for commits of other processes while it waits for responses, in
 * milliseconds.
 */
const pollMs = 1_000;
/** Extra time for an HTTP client that does not keep its deadline. */
const graceMs = 1_000;

/**
 * Sends a webhook its due deliveries, several at a time. When a request ends, the next one begins
 * while the outcome is being recorded. With `fifo` ordering, the next request begins only after the
 * outcome is recorded. Otherwise a crash could lose the outcome, and the delivery would be sent
 * again after a later one.
 */
export class WebhookDrain {
  readonly #options: WebhookDrainOptions;
  readonly #runtime: WebhookRuntime;
  readonly #scope: Scope;
  readonly #ahead: ReadAhead;
  readonly #deadline: SharedDeadline;
  /** On the clock that never steps back, like `#waitingSince`. */
  readonly #beginsUntil: number;
  /** Raised when another attempt may begin, and when the last attempt was recorded. */
  readonly #wake: WakeFlag;
  /** Deliveries whose attempt is under way or not yet recorded. They must not begin again. */
  readonly #unfinished = new Set<DeliveryId>();
  #unrecorded: UnrecordedAttempt[] = [];
  /** Failed attempts that are not yet recorded. */
  #unrecordedFailures = 0;
  #isRecording = false;
  /**
   * Whether the transaction that records attempts may end the drain. No attempt begins before it
   * commits.
   */
  #mayEnd = false;
  #failure: { readonly error: unknown } | undefined;
  #attemptCount = 0;
  #inFlight = 0;
  /** The attempts under way that began in the drain's time. */
  #inTime = 0;
  readonly #requestLimit = new RequestLimit();
  /** The webhook as it was last read. */
  #webhook: WebhookRow | undefined;
  #poster: { readonly to: WebhookRow; readonly post: PostDelivery } | undefined;
  #hasLease = true;
  #renewedAt: number;
  /** Since when no response has arrived, while requests are under way. */
  #waitingSince = 0;

  constructor(options: WebhookDrainOptions) {
    const { runtime, claim, run } = options;
    const { store, clock, webhooks } = runtime;
    const { account_id, mode } = claim;
    this.#options = options;
    this.#runtime = runtime;
    this.#scope = { account_id, mode };
    this.#ahead = new ReadAhead(store.reads(this.#scope), clock, claim.key.webhook_id);
    const deadlineMs = webhooks.deadlineSeconds * 1_000 + graceMs;
    this.#deadline = new SharedDeadline(clock, deadlineMs, run.abort);
    this.#renewedAt = claim.leased_until - leaseMs;
    this.#beginsUntil = clock.monotonic() + beginMs;
    this.#wake = new WakeFlag(clock);
  }

  /** Call when a commit of this process has changed the webhook. */
  webhookChanged(): void {
    this.#ahead.forget();
    this.#wake.raise();
  }

  /** Call when a commit of this process has written a delivery of the webhook. */
  deliveryWritten(id: DeliveryId, isNew: boolean): void {
    // Writes to unfinished deliveries are mostly those of this drain itself.
    if (!isNew && !this.#unfinished.has(id)) this.#ahead.forget();
    this.#wake.raise();
  }

  /**
   * Sends due deliveries until none is left, a limit of the drain is reached or the engine stops.
   */
  async run(): Promise<void> {
    const { claim, run } = this.#options;
    await this.#renew();
    for (;;) {
      // Lowered before the read, so that a commit during the read raises it again.
      this.#wake.lower();
      if (this.#hasRoom()) {
        // Read again before attempts begin: room can appear at any time, and an earlier read may be
        // outdated.
        await this.#read();
        this.#begin();
      }
      if (this.#unfinished.size === 0) break;
      await this.#wake.wait(pollMs);
      if (this.#hasSlowReceiver()) run.moveToSlowLane();
      await this.#renew();
    }
    this.#deadline.end();
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#hasLease) await this.#commit((tx) => endWebhookDrain(tx, claim));
  }

  /**
   * Reads the webhook and its next deliveries. A failure ends the drain once the attempts under way
   * have ended.
   */
  async #read(): Promise<void> {
    try {
      const webhook = await this.#ahead.read(this.#unfinished);
      // An unchanged row does not know of successes that are not yet recorded.
      if (webhook !== undefined && webhook !== this.#webhook) {
        this.#requestLimit.lower(webhook, this.#attemptCount);
      }
      this.#webhook = webhook;
    } catch (error) {
      this.#failure = { error };
    }
  }

  /** Begins as many attempts as there is room for, of the deliveries that were read ahead. */
  #begin(): void {
    while (this.#hasRoom()) {
      const next = this.#ahead.take();
      if (next === undefined) return;
      void this.#attempt(next);
    }
  }

  /**
   * Begins attempts from a page that is still current. Otherwise wakes the loop in `run`, which
   * reads again or ends the drain.
   */
  #continue(): void {
    if (this.#ahead.isFresh) this.#begin();
    if (this.#unfinished.size === 0 || this.#hasRoom()) this.#wake.raise();
  }

  /** Whether another attempt may begin. */
  #hasRoom(): boolean {
    const { run } = this.#options;
    if (run.stopping.aborted) return false;
    if (this.#failure !== undefined || !this.#hasLease || this.#mayEnd) return false;
    // After a renewal, at least half of the lease is left. If the process has stalled for longer,
    // another engine may have sent the deliveries, and later ones.
    if (this.#sinceRenewal >= leaseMs / 2) return false;
    if (this.#attemptCount >= maxDrainAttempts) return false;
    if (this.#isOver() && this.#inTime === 0) return false;
    // A failure may pause or disable the webhook, so it is recorded first.
    if (this.#unrecordedFailures > 0) return false;
    return (
      this.#inFlight < this.#requestLimit.max &&
      this.#unfinished.size < (this.#ahead.isInOrder ? 1 : maxUnfinished)
    );
  }

  /** Whether the time in which attempts begin is over. */
  #isOver(): boolean {
    return this.#runtime.clock.monotonic() >= this.#beginsUntil;
  }

  /** Whether the receiver lets requests wait. Recording their outcomes may be slow, too. */
  #hasSlowReceiver(): boolean {
    const waitedMs = this.#runtime.clock.monotonic() - this.#waitingSince;
    return this.#inFlight > 0 && waitedMs >= pollMs;
  }

  /** Makes one attempt and hands its outcome over for recording. */
  async #attempt({ webhook, delivery }: NextDelivery): Promise<void> {
    const { clock, drawId } = this.#runtime;
    const { id: delivery_id, manual_at: requested_at, attempts, history, body } = delivery;
    const number = ++this.#attemptCount;
    const inTime = this.#isOver() ? 0 : 1;
    if (this.#inFlight === 0) this.#waitingSince = clock.monotonic();
    this.#inFlight++;
    this.#inTime += inTime;
    this.#unfinished.add(delivery_id);
    const started_at = clock.now();
    const outcome =
      (await this.#deadline.within(this.#post(webhook)(delivery, started_at))) ?? missedDeadline;
    const ended_at = clock.now();
    this.#waitingSince = clock.monotonic();
    this.#inFlight--;
    this.#inTime -= inTime;
    if (this.#options.run.abort.aborted) {
      // It is unknown whether the request arrived, so it is sent again.
      this.#unfinished.delete(delivery_id);
    } else {
      const succeeded = isSuccess(outcome);
      if (succeeded) this.#requestLimit.raise(number);
      else this.#unrecordedFailures++;
      const jitter = succeeded ? 0 : this.#drawJitter();
      this.#unrecorded.push({
        id: drawId("att"),
        delivery_id,
        url: webhook.url,
        requested_at,
        body,
        outcome,
        attempts_before: attempts,
        automatic_before: history.length,
        started_at,
        ended_at,
        // The clock may have been set back during the attempt.
        duration_ms: Math.max(0, ended_at - started_at),
        jitter,
      });
    }
    this.#continue();
    void this.#recordEnded();
  }

  #post(webhook: WebhookRow): PostDelivery {
    if (this.#poster?.to !== webhook) {
      const post = deliveryPoster(webhook, {
        http: this.#options.http,
        mode: this.#scope.mode,
        deadlineMs: this.#runtime.webhooks.deadlineSeconds * 1_000,
        signal: this.#deadline.signal,
        clock: this.#runtime.clock,
      });
      this.#poster = { to: webhook, post };
    }
    return this.#poster.post;
  }

  #drawJitter(): number {
    const [drawn = 0] = this.#runtime.random.bytes(1);
    return drawn / 255;
  }

  /** How long ago the lease was renewed, in milliseconds. */
  get #sinceRenewal(): number {
    return this.#runtime.clock.now() - this.#renewedAt;
  }

  /** Extends the lease. Recording attempts does so too. */
  async #renew(): Promise<void> {
    const { claim } = this.#options;
    if (!this.#hasLease || this.#failure !== undefined || this.#sinceRenewal < leaseMs / 4) {
      return;
    }
    await this.#trackLease(() =>
      this.#commit(async (tx) => (await renew(tx, claim)) !== undefined),
    );
  }

  /** Records the attempts that have ended, one batch after the other. */
  async #recordEnded(): Promise<void> {
    if (this.#isRecording) return;
    this.#isRecording = true;
    while (this.#unrecorded.length > 0) {
      await this.#waitForBatch();
      const batch = this.#unrecorded;
      this.#unrecorded = [];
      this.#mayEnd = this.#inFlight === 0 && this.#ahead.isEmpty;
      await this.#trackLease(() => this.#record(batch));
      this.#mayEnd = false;
      for (const { delivery_id } of batch) this.#unfinished.delete(delivery_id);
      const failed = batch.filter(({ outcome }) => !isSuccess(outcome)).length;
      this.#unrecordedFailures -= failed;
      // A delivery whose manual attempt failed may also be due automatically, before the deliveries
      // that were read after it.
      if (failed > 0) this.#ahead.forget();
      this.#continue();
    }
    this.#isRecording = false;
  }

  /**
   * Waits as long as more attempts keep ending, so that attempts that end at about the same time
   * are recorded together.
   */
  async #waitForBatch(): Promise<void> {
    for (let before = 0; before < this.#unrecorded.length && this.#unrecorded.length < fullBatch;) {
      before = this.#unrecorded.length;
      if (this.#inFlight > 0) await this.#runtime.store.yieldToEventLoop();
    }
  }

  /**
   * Records attempts. Only this process knows the outcomes, so it retries while no other engine can
   * take the job.
   */
  async #record(batch: readonly UnrecordedAttempt[]): Promise<boolean> {
    const { claim, run } = this.#options;
    const { drawId } = this.#runtime;
    const mayEnd = this.#mayEnd;
    for (let round = 1; ; round++) {
      try {
        return await this.#commit((tx) => recordAttempts(tx, claim, batch, { drawId, mayEnd }));
      } catch (error) {
        const isTemporary = error instanceof TidingsError && error.retryable;
        if (!isTemporary || run.abort.aborted || round === maxRecordRounds) throw error;
      }
    }
  }

  /** Runs `work`, which renews the lease and returns whether the claim still has it. */
  async #trackLease(work: () => Promise<boolean>): Promise<void> {
    const { clock } = this.#runtime;
    const begun = clock.now();
    try {
      this.#hasLease = (await work()) && this.#hasLease;
      this.#renewedAt = begun;
    } catch (error) {
      this.#failure = { error };
    }
  }

  #commit<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const { store, clock } = this.#runtime;
    return retry(clock, this.#options.run.abort, () => store.commit(this.#scope, work, background));
  }
}
