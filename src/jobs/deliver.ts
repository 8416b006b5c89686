import { endDeliveryTurn } from "../commands/end-delivery-turn.ts";
import { type MadeAttempt, recordAttempts } from "../commands/record-attempts.ts";
import { withDeadline } from "../dispatch/deadline.ts";
import { type JobHandler, leaseMs, type Turn } from "../dispatch/dispatcher.ts";
import { insist } from "../dispatch/insist.ts";
import { renew } from "../domain/jobs/rows.ts";
import type { Claim } from "../domain/jobs/types.ts";
import { isSuccess } from "../domain/webhooks/schedule.ts";
import { signatureHeaders } from "../domain/webhooks/signature.ts";
import type { DeliveryRow, WebhookRow } from "../domain/webhooks/rows.ts";
import type { DeliveryId, DrawId } from "../ids.ts";
import type { HttpSettings } from "../options.ts";
import type { Clock } from "../ports/clock.ts";
import type { HttpOutcome } from "../ports/http-client.ts";
import type { Random } from "../ports/random.ts";
import type { Scope } from "../scope.ts";
import { Signal } from "../signal.ts";
import type { Store } from "../transactions/store.ts";
import type { Tx } from "../transactions/transaction.ts";
import { dueDeliveries } from "../webhooks/due-deliveries.ts";

export interface DeliverWork {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly drawId: DrawId;
  readonly http: HttpSettings | undefined;
  /** How long an attempt may take, in milliseconds. */
  readonly webhookDeadlineMs: number;
}

const own = { own: true } as const;
/** Requests at once to one webhook: while it does well, while it fails, and at first when it is new or has just come back. */
const width = { proven: 8, failing: 4, fresh: 1 } as const;
/** Attempts of one turn, and for how long it begins any; then others have theirs. */
const mostInATurn = 1_000;
const turnMs = 10_000;
/** Attempts that wait to be written down; no more are made meanwhile. */
const mostUnwritten = 64;
/** Of a response, in bytes. */
const mostBodyBytes = 16_384;
/** What a client that doesn't keep its deadline gets besides. */
const graceMs = 1_000;

/** Sends a webhook its deliveries for as long as some are due. */
export function deliverHandler(work: DeliverWork): JobHandler {
  return {
    kind: "deliver",
    async run(claim, turn) {
      const { account_id, mode } = claim;
      if (account_id === null || mode === null) throw new Error("a webhook belongs to an account");
      await new DeliveryTurn(work, claim, { account_id, mode }, turn).run();
    },
  };
}

class DeliveryTurn {
  readonly #work: DeliverWork;
  readonly #claim: Claim;
  readonly #scope: Scope;
  readonly #turn: Turn;
  readonly #ends: number;
  /** Raised when an attempt has ended, or was written down. */
  readonly #news: Signal;
  /** Under way, or not yet written down: not to be begun again. */
  readonly #held = new Set<DeliveryId>();
  #made: MadeAttempt[] = [];
  #isWriting = false;
  #failure: { readonly error: unknown } | undefined;
  #begun = 0;
  #inFlight = 0;
  #width: number = width.fresh;
  #isOurs = true;

  constructor(work: DeliverWork, claim: Claim, scope: Scope, turn: Turn) {
    this.#work = work;
    this.#claim = claim;
    this.#scope = scope;
    this.#turn = turn;
    this.#ends = work.clock.now() + turnMs;
    this.#news = new Signal(work.clock);
  }

  async run(): Promise<void> {
    const { abort } = this.#turn;
    for (let isFirst = true; !abort.aborted; isFirst = false) {
      this.#news.lower();
      const begun = await this.#begin(isFirst);
      this.#write();
      if (begun === 0 && this.#held.size === 0) break;
      // Whatever is written renews the lease.
      if (!(await this.#news.wait(leaseMs / 4))) await this.#renew();
    }
    // What is cut off or fails while attempts are under way leaves them to whoever finds the lease lapsed.
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#isOurs && !abort.aborted) await this.#commit((tx) => endDeliveryTurn(tx, this.#claim, this.#scope));
  }

  /** Begins as many attempts as there is room for. Answers how many. What fails here ends the turn when what is under way has ended. */
  async #begin(isFirst: boolean): Promise<number> {
    try {
      return this.#goesOn() ? await this.#take(isFirst) : 0;
    } catch (error) {
      this.#failure = { error };
      return 0;
    }
  }

  async #take(isFirst: boolean): Promise<number> {
    const { store, clock, http } = this.#work;
    if (http === undefined) return 0;
    const { webhook, due } = await dueDeliveries(store.reads, this.#scope, this.#claim.key, {
      now: clock.now(),
      held: this.#held,
      room: this.#room(),
    });
    if (webhook === undefined) return 0;
    if (isFirst) this.#width = widthOf(webhook);
    // What was read before the width was known may be more than it.
    const taken = due.slice(0, this.#room());
    for (const delivery of taken) void this.#attempt(webhook, delivery, http);
    return taken.length;
  }

  #goesOn(): boolean {
    const { clock } = this.#work;
    if (this.#failure !== undefined || !this.#isOurs || this.#turn.isStopping()) return false;
    return this.#begun < mostInATurn && clock.now() < this.#ends;
  }

  #room(): number {
    return Math.max(0, Math.min(this.#width - this.#inFlight, mostUnwritten - this.#held.size));
  }

  async #attempt(webhook: WebhookRow, delivery: DeliveryRow, http: HttpSettings): Promise<void> {
    const { clock, random } = this.#work;
    const { id: delivery_id, manual_at, history } = delivery;
    this.#begun++;
    this.#inFlight++;
    this.#held.add(delivery_id);
    const started_at = clock.now();
    const outcome = await this.#post(webhook, delivery, http, started_at);
    const ended_at = clock.now();
    this.#inFlight--;
    if (outcome === undefined) {
      this.#held.delete(delivery_id);
    } else {
      const manual = manual_at !== null;
      const [jitter = 0] = random.bytes(1);
      // A clock that was set meanwhile makes no time negative.
      const duration_ms = Math.max(0, ended_at - started_at);
      const facts = { manual, before: history.length, started_at, ended_at, duration_ms, jitter: jitter / 255 };
      this.#made.push({ delivery_id, outcome, ...facts });
      if (isSuccess(outcome)) this.#width = Math.min(this.#width + 1, width.proven);
    }
    this.#news.raise();
  }

  /** Undefined when it was cut off here: nobody knows whether it arrived, so it is made again. */
  async #post(
    { url, headers, secret, previous_secret, previous_expires_at }: WebhookRow,
    { event_id, body: text }: DeliveryRow,
    { client, destinations }: HttpSettings,
    at: number,
  ): Promise<HttpOutcome | undefined> {
    const { clock, webhookDeadlineMs: deadline_ms } = this.#work;
    const { abort } = this.#turn;
    const body = Buffer.from(text ?? "");
    const secrets = previous_secret !== null && (previous_expires_at ?? 0) > at ? [secret, previous_secret] : [secret];
    const own = { "content-type": "application/json", ...signatureHeaders({ id: event_id, at, body }, secrets) };
    const request = {
      method: "POST",
      url,
      to: destinations[this.#scope.mode],
      headers: { "user-agent": "tidings", ...headers, ...own },
      body,
      deadline_ms,
      most_body_bytes: mostBodyBytes,
    } as const;
    const late = (): HttpOutcome => lost("response_timeout", "The client did not come back in time.");
    try {
      const outcome = await withDeadline(
        clock,
        deadline_ms + graceMs,
        abort,
        (signal) => client.send({ ...request, signal }),
        late,
      );
      return abort.aborted ? undefined : outcome;
    } catch {
      return abort.aborted ? undefined : lost("connect_failed", "The client failed without an answer.");
    }
  }

  async #renew(): Promise<void> {
    try {
      if (this.#isOurs) this.#isOurs = await this.#commit((tx) => renew(tx, this.#claim, leaseMs));
    } catch (error) {
      this.#failure = { error };
    }
  }

  #commit<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const { store, clock } = this.#work;
    return insist(clock, this.#turn.abort, () => store.commit(work, own));
  }

  /** Writes down what has come, one batch after the other: what comes meanwhile is the next. */
  #write(): void {
    if (this.#isWriting || this.#made.length === 0) return;
    const made = this.#made;
    this.#made = [];
    this.#isWriting = true;
    void this.#record(made).then(() => {
      this.#isWriting = false;
      for (const { delivery_id } of made) this.#held.delete(delivery_id);
      this.#news.raise();
    });
  }

  async #record(made: readonly MadeAttempt[]): Promise<void> {
    const options = { scope: this.#scope, drawId: this.#work.drawId, leaseMs };
    try {
      this.#isOurs = await this.#commit((tx) => recordAttempts(tx, this.#claim, made, options));
    } catch (error) {
      this.#failure = { error };
    }
  }
}

function widthOf({ proven, streak }: WebhookRow): number {
  if (proven) return width.proven;
  return streak === null ? width.fresh : width.failing;
}

function lost(code: "response_timeout" | "connect_failed", message: string): HttpOutcome {
  return { outcome: "failed", code, message, sent: true, address: null, partial: null };
}
