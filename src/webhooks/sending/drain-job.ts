import { finish, leaseMs, renew, retry, type Claim, type JobRun } from "../../queue/index.ts";
import { background, type Tx } from "../../store/index.ts";
import type { WebhookRuntime } from "../options.ts";
import { webhookById, type WebhookRow } from "../rows.ts";
import { nextDeliveryAt } from "./due-deliveries.ts";

interface DrainJobOptions {
  readonly runtime: Pick<WebhookRuntime, "store" | "clock">;
  readonly claim: Claim<"deliver">;
  readonly run: JobRun;
}

/** The job that a drain works on: its lease, its commits, and whether attempts may begin. */
export class DrainJob {
  readonly #options: DrainJobOptions;
  #hasLease = true;
  #renewedAt: number;
  #failure: { readonly error: unknown } | undefined;

  constructor(options: DrainJobOptions) {
    this.#options = options;
    this.#renewedAt = options.claim.leased_until - leaseMs;
  }

  /**
   * Whether attempts may begin. After a renewal, at least half of the lease is left. If the process
   * has stalled for longer, another engine may have sent the deliveries, and later ones.
   */
  get allowsAttempts(): boolean {
    if (this.#options.run.stopping.aborted) return false;
    return this.#failure === undefined && this.#hasLease && this.#sinceRenewal < leaseMs / 2;
  }

  /** How long ago the lease was renewed, in milliseconds. */
  get #sinceRenewal(): number {
    return this.#options.runtime.clock.now() - this.#renewedAt;
  }

  /** Extends the lease. Recording attempts does so too. */
  async renew(): Promise<void> {
    const { claim } = this.#options;
    if (!this.#hasLease || this.#failure !== undefined || this.#sinceRenewal < leaseMs / 4) {
      return;
    }
    await this.trackLease(() => this.commit(async (tx) => (await renew(tx, claim)) !== undefined));
  }

  /**
   * Runs `work`, which renews the lease and returns whether the claim still has it. A failure ends
   * the drain.
   */
  async trackLease(work: () => Promise<boolean>): Promise<void> {
    const begun = this.#options.runtime.clock.now();
    try {
      this.#hasLease = (await work()) && this.#hasLease;
      this.#renewedAt = begun;
    } catch (error) {
      this.fail(error);
    }
  }

  /** Ends the drain once the attempts under way have ended. */
  fail(error: unknown): void {
    this.#failure = { error };
  }

  /** Commits with retries, because only this process knows how its attempts ended. */
  commit<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const { runtime, claim, run } = this.#options;
    return retry(runtime.clock, run, () => runtime.store.commit(claim, work, background));
  }

  /** Releases the job. Throws the failure of the drain, if there was one. */
  async release(): Promise<void> {
    const { claim } = this.#options;
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#hasLease) await this.commit((tx) => endWebhookDrain(tx, claim));
  }
}

/** Releases the job of a webhook until `againAt`, or removes it when that is Infinity. */
export function releaseWebhookJob(
  tx: Tx,
  claim: Claim<"deliver">,
  webhook: WebhookRow,
  againAt: number,
): Promise<void> {
  // A failing receiver gets a slow lane. The job itself did not fail, so it has no back-off.
  return finish(tx, claim, { againAt, lane: { ...claim.lane, slow: !webhook.proven } });
}

/**
 * Releases the job of a webhook until its next delivery is due, or removes it when no delivery is
 * left. What makes a delivery due earlier, such as enabling the webhook, arms the job in the same
 * transaction. So the webhook need not be held: both transactions write or hold the job.
 */
async function endWebhookDrain(tx: Tx, claim: Claim<"deliver">): Promise<void> {
  const webhook = await tx.get(webhookById, [claim.key.webhook_id]);
  if (webhook === undefined) return finish(tx, claim);
  return releaseWebhookJob(tx, claim, webhook, await nextDeliveryAt(tx, webhook));
}
