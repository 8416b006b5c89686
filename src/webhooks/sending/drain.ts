import { SharedDeadline, type DeliveryId } from "../../kernel/index.ts";
import { WakeFlag, type Claim, type JobRun } from "../../queue/index.ts";
import type { HttpSettings, WebhookRuntime } from "../options.ts";
import type { WebhookRow } from "../rows.ts";
import { DrainJob } from "./drain-job.ts";
import { DrainRequests } from "./drain-requests.ts";
import { EndedAttempts } from "./ended-attempts.ts";
import { deliveryPoster, missedDeadline, type PostDelivery } from "./post-delivery.ts";
import { ReadAhead, type NextDelivery } from "./read-ahead.ts";
import type { UnrecordedAttempt } from "./record-attempts.ts";
import { isSuccess } from "./schedule.ts";

interface WebhookDrainOptions {
  readonly runtime: WebhookRuntime;
  readonly http: HttpSettings;
  readonly claim: Claim<"deliver">;
  readonly run: JobRun;
}

/** The maximum number of attempts that are under way or not yet recorded. */
const maxUnfinished = 64;
/**
 * How often the drain looks for commits of other processes while it waits for responses, in
 * milliseconds. A receiver that sends none for so long is slow.
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
  readonly #job: DrainJob;
  readonly #ahead: ReadAhead;
  readonly #requests: DrainRequests;
  readonly #ended: EndedAttempts;
  readonly #deadline: SharedDeadline;
  /** Raised when another attempt may begin, and when the last attempt was recorded. */
  readonly #wake: WakeFlag;
  /** Deliveries whose attempt is under way or not yet recorded. They must not begin again. */
  readonly #unfinished = new Set<DeliveryId>();
  /** The webhook as it was last read. */
  #webhook: WebhookRow | undefined;
  #poster: { readonly to: WebhookRow; readonly post: PostDelivery } | undefined;

  constructor(options: WebhookDrainOptions) {
    const { runtime, claim, run } = options;
    const { store, clock, webhooks } = runtime;
    this.#options = options;
    this.#job = new DrainJob(options);
    this.#ahead = new ReadAhead(store.reads(claim), clock, claim.key.webhook_id);
    this.#requests = new DrainRequests(clock);
    this.#ended = new EndedAttempts({
      ...options,
      job: this.#job,
      requests: this.#requests,
      ahead: this.#ahead,
      onRecorded: (batch) => this.#onRecorded(batch),
    });
    const deadlineMs = webhooks.deadlineSeconds * 1_000 + graceMs;
    this.#deadline = new SharedDeadline(clock, deadlineMs, run.abort);
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
    await this.#job.renew();
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
      if (this.#requests.waitedMs >= pollMs) this.#options.run.moveToSlowLane();
      await this.#job.renew();
    }
    this.#deadline.end();
    await this.#job.release();
  }

  /** Reads the webhook and its next deliveries. */
  async #read(): Promise<void> {
    try {
      const webhook = await this.#ahead.read(this.#unfinished);
      // An unchanged row does not know of successes that are not yet recorded.
      if (webhook !== undefined && webhook !== this.#webhook) this.#requests.lowerLimit(webhook);
      this.#webhook = webhook;
    } catch (error) {
      this.#job.fail(error);
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
    const mayBegin = this.#job.allowsAttempts && this.#requests.mayBegin;
    if (!mayBegin || this.#ended.mustBeRecordedFirst) return false;
    return this.#unfinished.size < (this.#ahead.isInOrder ? 1 : maxUnfinished);
  }

  /** Makes one attempt and hands its outcome over for recording. */
  async #attempt({ webhook, delivery }: NextDelivery): Promise<void> {
    const { clock, store } = this.#options.runtime;
    const { id: delivery_id, manual_at: requested_at, attempts, history, body } = delivery;
    const end = this.#requests.begin();
    this.#unfinished.add(delivery_id);
    const started_at = clock.now();
    const outcome =
      (await this.#deadline.within(this.#post(webhook)(delivery, started_at))) ?? missedDeadline;
    const ended_at = clock.now();
    const { aborted } = this.#options.run.abort;
    const succeeded = isSuccess(outcome);
    end(succeeded && !aborted);
    if (aborted) {
      // It is unknown whether the request arrived, so it is sent again.
      this.#unfinished.delete(delivery_id);
    } else {
      const jitter = succeeded ? 0 : this.#drawJitter();
      this.#ended.add({
        id: store.drawId("att"),
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
    void this.#ended.record();
  }

  #onRecorded(batch: readonly UnrecordedAttempt[]): void {
    for (const { delivery_id } of batch) this.#unfinished.delete(delivery_id);
    this.#continue();
  }

  #post(webhook: WebhookRow): PostDelivery {
    if (this.#poster?.to !== webhook) {
      const { runtime, http, claim } = this.#options;
      const post = deliveryPoster(webhook, {
        http,
        mode: claim.mode,
        deadlineMs: runtime.webhooks.deadlineSeconds * 1_000,
        signal: this.#deadline.signal,
        clock: runtime.clock,
      });
      this.#poster = { to: webhook, post };
    }
    return this.#poster.post;
  }

  #drawJitter(): number {
    const [drawn = 0] = this.#options.runtime.random.bytes(1);
    return drawn / 255;
  }
}
