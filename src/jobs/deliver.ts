import { endDeliveryTurn } from "../commands/end-delivery-turn.ts";
import { type MadeAttempt, recordAttempts } from "../commands/record-attempts.ts";
import { type JobHandler, leaseMs, type Turn } from "../dispatch/dispatcher.ts";
import { insist } from "../dispatch/insist.ts";
import { renew } from "../domain/jobs/rows.ts";
import type { Claim } from "../domain/jobs/types.ts";
import { isSuccess } from "../domain/webhooks/schedule.ts";
import { deliveries, type DeliveryRow, webhookById, type WebhookRow, webhooks } from "../domain/webhooks/rows.ts";
import type { DeliveryId, DrawId } from "../ids.ts";
import type { HttpSettings } from "../options.ts";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/random.ts";
import type { Write } from "../ports/storage.ts";
import type { Scope } from "../scope.ts";
import { Signal } from "../signal.ts";
import type { Store } from "../transactions/store.ts";
import type { Tx } from "../transactions/transaction.ts";
import { dueDeliveries } from "../webhooks/due-deliveries.ts";
import { postDelivery } from "./post-delivery.ts";

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
/** Attempts under way or not yet written down; no more are made meanwhile. */
const mostHeld = 64;
/** The net under the wake-ups, for what another process commits while a turn waits for answers. */
const pollMs = 1_000;

/** Sends a webhook its deliveries for as long as some are due. */
export function deliverHandler(work: DeliverWork): JobHandler {
  const { store, http } = work;
  /** Those under way here, by their webhooks: what becomes due meanwhile need not wait for an answer that is slow to come. */
  const turns = new Map<string, DeliveryTurn>();
  store.onCommit((writes) => {
    if (turns.size === 0) return;
    for (const write of writes) turns.get(webhookOf(write) ?? "")?.wake();
  });
  return {
    kind: "deliver",
    async run(claim, turn) {
      const { account_id, mode, key } = claim;
      if (account_id === null || mode === null) throw new Error("a webhook belongs to an account");
      if (http === undefined) throw new Error("webhooks need an HTTP client");
      const own = new DeliveryTurn({ ...work, http, claim, scope: { account_id, mode }, turn });
      turns.set(key, own);
      try {
        await own.run();
      } finally {
        turns.delete(key);
      }
    },
  };
}

function webhookOf(write: Write): string | undefined {
  if (write.kind !== "insert" && write.kind !== "update") return undefined;
  if (write.collection === deliveries) return (write.row as Pick<DeliveryRow, "webhook_id">).webhook_id;
  return write.collection === webhooks ? (write.row as Pick<WebhookRow, "id">).id : undefined;
}

interface TurnOptions extends DeliverWork {
  readonly http: HttpSettings;
  readonly claim: Claim;
  readonly scope: Scope;
  readonly turn: Turn;
}

class DeliveryTurn {
  readonly #options: TurnOptions;
  readonly #ends: number;
  /** Raised when an attempt has ended or was written down, or there may be more to begin. */
  readonly #news: Signal;
  /** Under way, or not yet written down: not to be begun again. */
  readonly #held = new Set<DeliveryId>();
  #made: MadeAttempt[] = [];
  /** Of those that are not yet written down. */
  #failed = 0;
  #isWriting = false;
  #failure: { readonly error: unknown } | undefined;
  #begun = 0;
  #inFlight = 0;
  /** Not known before the webhook was read. */
  #width = Infinity;
  #isOurs = true;
  #renewedAt: number;
  /** When it was last answered. */
  #heardAt: number;

  constructor(options: TurnOptions) {
    const { clock } = options;
    this.#options = options;
    this.#renewedAt = clock.now();
    this.#heardAt = clock.now();
    this.#ends = clock.now() + turnMs;
    this.#news = new Signal(clock);
  }

  wake(): void {
    this.#news.raise();
  }

  async run(): Promise<void> {
    const { store, claim, scope, clock, turn } = this.#options;
    for (;;) {
      // Lowered before the reads: what commits meanwhile raises it again.
      this.#news.lower();
      const begun = await this.#begin();
      this.#write();
      if (begun === 0 && this.#held.size === 0) break;
      await this.#news.wait(pollMs);
      // What ends in the same breath is written down together.
      await store.turn();
      if (clock.now() - this.#heardAt >= pollMs) turn.lags();
      await this.#renew();
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#isOurs) await this.#commit((tx) => endDeliveryTurn(tx, claim, scope));
  }

  /** Begins as many attempts as there is room for. Answers how many. What fails here ends the turn when what is under way has ended. */
  async #begin(): Promise<number> {
    if (!this.#goesOn() || this.#room() === 0) return 0;
    try {
      return await this.#take();
    } catch (error) {
      this.#failure = { error };
      return 0;
    }
  }

  async #take(): Promise<number> {
    const { store, clock, scope, claim } = this.#options;
    // What is written down while this reads may be read as it was before.
    const held = new Set(this.#held);
    const webhook = await store.reads.get(webhookById, [scope.account_id, scope.mode, claim.key]);
    if (webhook === undefined) return 0;
    if (this.#width === Infinity) this.#width = widthOf(webhook);
    const due = await dueDeliveries(store.reads, webhook, { now: clock.now(), held, room: this.#room() });
    if (!this.#goesOn()) return 0;
    const taken = due.slice(0, this.#room());
    for (const delivery of taken) void this.#attempt(webhook, delivery);
    return taken.length;
  }

  #goesOn(): boolean {
    const { clock, turn } = this.#options;
    if (this.#failure !== undefined || !this.#isOurs || turn.isStopping() || turn.abort.aborted) return false;
    return this.#begun < mostInATurn && clock.now() < this.#ends;
  }

  #room(): number {
    // What failed may say that the webhook wants a rest, or is gone: that is heeded first.
    if (this.#failed > 0) return 0;
    return Math.max(0, Math.min(this.#width - this.#inFlight, mostHeld - this.#held.size));
  }

  async #attempt(webhook: WebhookRow, delivery: DeliveryRow): Promise<void> {
    const { clock, random, drawId, http, scope, webhookDeadlineMs, turn } = this.#options;
    const { id: delivery_id, manual_at: asked_at, attempts, history } = delivery;
    this.#begun++;
    this.#inFlight++;
    this.#held.add(delivery_id);
    const started_at = clock.now();
    const sending = { http, clock, at: started_at, mode: scope.mode, deadlineMs: webhookDeadlineMs, abort: turn.abort };
    const outcome = await postDelivery(webhook, delivery, sending);
    const ended_at = clock.now();
    this.#heardAt = ended_at;
    this.#inFlight--;
    if (outcome === undefined) {
      this.#held.delete(delivery_id);
    } else {
      const [jitter = 0] = random.bytes(1);
      // A clock that was set meanwhile makes no time negative.
      const duration_ms = Math.max(0, ended_at - started_at);
      const times = { started_at, ended_at, duration_ms, jitter: jitter / 255 };
      const before = { attempts, before: history.length, asked_at, sent: delivery.body };
      this.#made.push({ id: drawId("att"), delivery_id, outcome, ...before, ...times });
      if (isSuccess(outcome)) this.#width = Math.min(this.#width + 1, width.proven);
      else this.#failed++;
    }
    this.#news.raise();
  }

  /** Whatever is written down does so too. */
  async #renew(): Promise<void> {
    const { clock, claim } = this.#options;
    if (!this.#isOurs || this.#failure !== undefined || clock.now() - this.#renewedAt < leaseMs / 4) return;
    await this.#keep((tx) => renew(tx, claim, leaseMs));
  }

  /** Writes down what has come, one batch after the other: what comes meanwhile is the next. */
  #write(): void {
    if (this.#isWriting || this.#made.length === 0) return;
    const { claim, scope, drawId } = this.#options;
    const made = this.#made;
    this.#made = [];
    this.#isWriting = true;
    void this.#keep((tx) => recordAttempts(tx, claim, made, { scope, drawId, leaseMs })).then(() => {
      this.#isWriting = false;
      for (const { delivery_id } of made) this.#held.delete(delivery_id);
      this.#failed -= made.filter(({ outcome }) => !isSuccess(outcome)).length;
      this.#news.raise();
    });
  }

  /** `work` answers whether the turn is still the claim's. */
  async #keep(work: (tx: Tx) => Promise<boolean>): Promise<void> {
    const { clock } = this.#options;
    const begun = clock.now();
    try {
      this.#isOurs = (await this.#commit(work)) && this.#isOurs;
      this.#renewedAt = begun;
    } catch (error) {
      this.#failure = { error };
    }
  }

  #commit<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const { store, clock, turn } = this.#options;
    return insist(clock, turn.abort, () => store.commit(work, own));
  }
}

function widthOf({ proven, streak }: WebhookRow): number {
  if (proven) return width.proven;
  return streak === null ? width.fresh : width.failing;
}
