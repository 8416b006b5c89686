import { endDeliveryTurn } from "./end-drain.ts";
import { type MadeAttempt, recordAttempts } from "./record-attempts.ts";
import { SharedDeadline } from "../queue/deadline.ts";
import { leaseMs, type Turn } from "../queue/dispatcher.ts";
import { insist } from "../queue/insist.ts";
import { renew } from "../queue/rows.ts";
import type { Claim } from "../queue/types.ts";
import { isSuccess } from "./schedule.ts";
import type { WebhookRow } from "./rows.ts";
import { TidingsError } from "../kernel/errors.ts";
import type { DeliveryId, DrawId, WebhookId } from "../kernel/ids.ts";
import type { HttpSettings } from "../options.ts";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/random.ts";
import type { Scope } from "../kernel/scope.ts";
import { Signal } from "../queue/signal.ts";
import type { Store } from "../store/store.ts";
import type { Tx } from "../store/transaction.ts";
import { type Next, Upcoming } from "./upcoming.ts";
import { late, type Post, posting } from "./post-delivery.ts";

export interface TurnServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly drawId: DrawId;
  /** How long an attempt may take, in milliseconds. */
  readonly webhookDeadlineMs: number;
}

export interface DeliveryTurnOptions extends TurnServices {
  readonly http: HttpSettings;
  readonly claim: Claim;
  readonly scope: Scope;
  readonly turn: Turn;
  readonly leasedAt: number;
}

const own = { own: true } as const;
/** Requests at once to one webhook: while it does well, while it fails, and at first when it is new or has just come back. */
const width = { proven: 8, failing: 4, fresh: 1 } as const;
/** Attempts of one turn, and for how long it begins any; then others have theirs. */
const mostInATurn = 10_000;
const turnMs = 10_000;
/** Attempts under way or not yet written down; no more are made meanwhile. */
const mostHeld = 64;
/** Attempts that are written down together. */
const mostTogether = 32;
/** How often `insist` is begun anew for what was made: for about a minute in all, which is a lease. */
const mostRounds = 10;
/** The net under the wake-ups, for what another process commits while a turn waits for answers. */
const pollMs = 1_000;
/** What a client that doesn't keep its deadline gets besides. */
const graceMs = 1_000;

/**
 * Sends a webhook what is due, so many requests at a time: when one ends the next begins, and what came of it is written down beside that.
 * Where order is kept the next one waits until it is: what a crash leaves unwritten is sent again, and then nothing has overtaken it.
 */
export class DeliveryTurn {
  readonly #options: DeliveryTurnOptions;
  readonly #upcoming: Upcoming;
  readonly #patience: SharedDeadline;
  readonly #ends: number;
  /** Raised when there may be more to begin than is known here, and when nothing is under way any more. */
  readonly #news: Signal;
  /** Under way, or not yet written down: not to be begun again. */
  readonly #held = new Set<DeliveryId>();
  #made: MadeAttempt[] = [];
  /** Of those that are not yet written down. */
  #failed = 0;
  #isWriting = false;
  /** What is written down may be the turn's end: until that is known nothing begins. */
  #mayEnd = false;
  #failure: { readonly error: unknown } | undefined;
  #begun = 0;
  #inFlight = 0;
  /** Not known before the webhook was looked at. */
  #width = Infinity;
  #posting: { readonly to: WebhookRow; readonly post: Post } | undefined;
  #isOurs = true;
  #renewedAt: number;
  /** When it was last answered. */
  #heardAt: number;

  constructor(options: DeliveryTurnOptions) {
    const { store, clock, scope, claim, turn, leasedAt, webhookDeadlineMs } = options;
    this.#options = options;
    this.#upcoming = new Upcoming(store.reads(scope), clock, claim.key as WebhookId);
    this.#patience = new SharedDeadline(clock, webhookDeadlineMs + graceMs, turn.abort);
    this.#renewedAt = leasedAt;
    this.#heardAt = clock.now();
    this.#ends = clock.now() + turnMs;
    this.#news = new Signal(clock);
  }

  webhookChanged(): void {
    this.#upcoming.forget();
    this.#news.raise();
  }

  deliveryWritten(id: DeliveryId, isNew: boolean): void {
    // What is held is mostly written by this turn itself.
    if (!isNew && !this.#held.has(id)) this.#upcoming.forget();
    this.#news.raise();
  }

  async run(): Promise<void> {
    const { claim, clock, turn } = this.#options;
    await this.#renew();
    for (;;) {
      // Lowered before the look: what commits meanwhile raises it again.
      this.#news.lower();
      if (this.#hasRoom()) {
        // Never the one without the other: room may be made at any time, and what was seen before that is out of date.
        await this.#look();
        this.#begin();
      }
      if (this.#held.size === 0) break;
      await this.#news.wait(pollMs);
      if (clock.now() - this.#heardAt >= pollMs) turn.lags();
      await this.#renew();
    }
    this.#patience.end();
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#isOurs) await this.#commit((tx) => endDeliveryTurn(tx, claim));
  }

  /** What fails here ends the turn when what is under way has ended. */
  async #look(): Promise<void> {
    try {
      const webhook = await this.#upcoming.look(this.#held);
      if (this.#width === Infinity && webhook !== undefined) this.#width = widthOf(webhook);
    } catch (error) {
      this.#failure = { error };
    }
  }

  /** Begins as many attempts as there is room for, of what is at hand. */
  #begin(): void {
    while (this.#hasRoom()) {
      const next = this.#upcoming.take();
      if (next === undefined) return;
      void this.#attempt(next);
    }
  }

  /** What can't be begun at once is left to the loop. */
  #goOn(): void {
    if (this.#upcoming.isFresh) this.#begin();
    if (this.#held.size === 0 || this.#hasRoom()) this.#news.raise();
  }

  #hasRoom(): boolean {
    const { clock, turn } = this.#options;
    if (turn.isStopping() || turn.abort.aborted) return false;
    if (this.#failure !== undefined || !this.#isOurs || this.#mayEnd) return false;
    if (this.#begun >= mostInATurn || clock.now() >= this.#ends) return false;
    // What failed may say that the webhook wants a rest, or is gone: that is heeded first.
    if (this.#failed > 0) return false;
    return (
      this.#inFlight < this.#width && this.#held.size < (this.#upcoming.isInOrder ? 1 : mostHeld)
    );
  }

  async #attempt({ webhook, delivery }: Next): Promise<void> {
    const { clock, drawId, turn } = this.#options;
    const { id: delivery_id, manual_at: asked_at, attempts, history, body: sent } = delivery;
    this.#begun++;
    this.#inFlight++;
    this.#held.add(delivery_id);
    const started_at = clock.now();
    const outcome =
      (await this.#patience.within(this.#post(webhook)(delivery, started_at))) ?? late;
    const ended_at = clock.now();
    this.#heardAt = ended_at;
    this.#inFlight--;
    if (turn.abort.aborted) {
      // Nobody knows whether it arrived, so it is made again.
      this.#held.delete(delivery_id);
    } else {
      const isGood = isSuccess(outcome);
      if (isGood) this.#width = Math.min(this.#width + 1, width.proven);
      else this.#failed++;
      // A clock that was set meanwhile makes no time negative.
      const duration_ms = Math.max(0, ended_at - started_at);
      const times = { started_at, ended_at, duration_ms, jitter: isGood ? 0 : this.#drawJitter() };
      const before = { attempts, before: history.length, asked_at, sent };
      this.#made.push({ id: drawId("att"), delivery_id, outcome, ...before, ...times });
    }
    this.#goOn();
    void this.#write();
  }

  #post(webhook: WebhookRow): Post {
    if (this.#posting?.to !== webhook) {
      const { http, scope, webhookDeadlineMs: deadlineMs } = this.#options;
      const post = posting(webhook, {
        http,
        mode: scope.mode,
        deadlineMs,
        signal: this.#patience.signal,
      });
      this.#posting = { to: webhook, post };
    }
    return this.#posting.post;
  }

  #drawJitter(): number {
    const [drawn = 0] = this.#options.random.bytes(1);
    return drawn / 255;
  }

  /** Whatever is written down does so too. */
  async #renew(): Promise<void> {
    const { clock, claim } = this.#options;
    if (
      !this.#isOurs ||
      this.#failure !== undefined ||
      clock.now() - this.#renewedAt < leaseMs / 4
    ) {
      return;
    }
    await this.#keep(() => this.#commit((tx) => renew(tx, claim, leaseMs)));
  }

  /** Writes down what has come, one batch after the other: what comes meanwhile is the next. */
  async #write(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    while (this.#made.length > 0) {
      await this.#gather();
      const made = this.#made;
      this.#made = [];
      this.#mayEnd = this.#inFlight === 0 && this.#upcoming.isEmpty;
      await this.#keep(() => this.#record(made));
      this.#mayEnd = false;
      for (const { delivery_id } of made) this.#held.delete(delivery_id);
      const failed = made.filter(({ outcome }) => !isSuccess(outcome)).length;
      this.#failed -= failed;
      // What failed by hand may be due by itself all the same, and comes before what was read after it.
      if (failed > 0) this.#upcoming.forget();
      this.#goOn();
    }
    this.#isWriting = false;
  }

  /** What ends in the same breath is written down together. */
  async #gather(): Promise<void> {
    for (let before = 0; before < this.#made.length && this.#made.length < mostTogether;) {
      before = this.#made.length;
      if (this.#inFlight > 0) await this.#options.store.turn();
    }
  }

  /** They are known here alone, so this goes on for as long as nobody else would take the turn. */
  async #record(made: readonly MadeAttempt[]): Promise<boolean> {
    const { claim, drawId, turn } = this.#options;
    const mayEnd = this.#mayEnd;
    for (let round = 1; ; round++) {
      try {
        return await this.#commit((tx) =>
          recordAttempts(tx, claim, made, { drawId, leaseMs, mayEnd }),
        );
      } catch (error) {
        const isAway = error instanceof TidingsError && error.retryable;
        if (!isAway || turn.abort.aborted || round === mostRounds) throw error;
      }
    }
  }

  /** `work` answers whether the turn is still the claim's. */
  async #keep(work: () => Promise<boolean>): Promise<void> {
    const { clock } = this.#options;
    const begun = clock.now();
    try {
      this.#isOurs = (await work()) && this.#isOurs;
      this.#renewedAt = begun;
    } catch (error) {
      this.#failure = { error };
    }
  }

  #commit<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const { store, clock, scope, turn } = this.#options;
    return insist(clock, turn.abort, () => store.commit(scope, work, own));
  }
}

function widthOf({ proven, streak }: WebhookRow): number {
  if (proven) return width.proven;
  return streak === null ? width.fresh : width.failing;
}
