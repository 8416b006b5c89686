/** An account with receivers on a virtual clock, and engines on one storage that send to them. */
import type { VirtualClock } from "../../adapters/testing/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import type { EngineOptions } from "../../src/host/options/options.ts";
import type { Collection, Index } from "../../src/ports/collection.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import type { CreateWebhook } from "../../src/webhooks/input-types.ts";
import {
  deliveries,
  deliveriesByPosition,
  deliveryAttempts,
  webhookPatterns,
  webhooks,
  type DeliveryAttemptRow,
  type DeliveryRow,
  type WebhookRow,
} from "../../src/webhooks/rows.ts";
import type { WebhookWithSecret } from "../../src/webhooks/types.ts";
import { world, type LogLine } from "../support/engines/world.ts";
import { memoryGround, type Ground } from "../support/storage/storages.ts";
import { receivers, type Behavior, type Receivers } from "./receivers.ts";

export interface WebhookWorld {
  readonly clock: VirtualClock;
  readonly log: LogLine[];
  readonly receivers: Receivers;
  readonly storage: StoragePort;
  /** A further connection to the storage, as from another process. */
  connect(): StoragePort;
  /** The default account, through an engine that is never started. */
  readonly desk: AccountHandle;
  /** Starts a further engine. */
  start(options?: Partial<EngineOptions>, storage?: StoragePort): Promise<MessagingEngine>;
  /** Creates a webhook and its receiver. */
  hook(
    name: string,
    behavior?: Behavior,
    input?: Partial<CreateWebhook>,
  ): Promise<WebhookWithSecret>;
  /** Creates many webhooks, named `x0` and so on. */
  crowd(count: number, behavior: Behavior): Promise<void>;
  /** Fires events that only webhooks handle. Returns their ids. */
  tell(count?: number): Promise<string[]>;
  /** Advances the clock. Over long times, the clock jumps once no request is under way. */
  pass(ms: number): Promise<void>;
  /** Advances the clock until no request is under way. */
  idle(): Promise<void>;
  /** Sets the clock forwards or backwards. */
  step(ms: number): void;
  readonly steps: readonly { readonly elapsed: number; readonly ms: number }[];
  webhooks(): Promise<WebhookRow[]>;
  /** In commit order. */
  deliveries(): Promise<DeliveryRow[]>;
  /** By delivery and attempt number. */
  attempts(): Promise<DeliveryAttemptRow[]>;
}

/** An engine that is not started, and receivers for what engines on its storage send. */
export function openedOn(ground: Ground, options: Partial<EngineOptions> = {}) {
  const { clock, engine, started, log } = world();
  const storage = ground.connect();
  const there = receivers(clock);
  const http = { client: there.client };
  const one = engine(storage, { http, ...options });
  return { clock, engine, started, log, ground, storage, there, http, one };
}

const plentyMs = 70_000;

export async function webhookWorld(ground = memoryGround()): Promise<WebhookWorld> {
  const { clock, log, engine, started } = world();
  const storage = ground.connect();
  const steps: { readonly elapsed: number; readonly ms: number }[] = [];
  const setOn = (): number => steps.reduce((sum, { ms }) => sum + ms, 0);
  const step = (ms: number): void => {
    steps.push({ elapsed: clock.now() - setOn(), ms });
    clock.step(ms);
  };
  const there = receivers(clock, setOn);
  // A jump of the clock during a request would let its lease lapse.
  const idle = (): Promise<void> =>
    clock.advanceUntil(() => [...there.busy.values()].every((count) => count === 0));
  const http = { client: there.client };
  const desk = engine(storage, { http }).account();
  await desk.get();

  async function all<R extends object>(
    collection: Collection<R>,
    index: Index<R> = collection.primary,
  ): Promise<R[]> {
    const found = await storage.reader.range({
      index,
      prefix: [],
      order: "ascending",
      limit: 100_000,
    });
    return found as unknown as R[];
  }

  return {
    clock,
    log,
    receivers: there,
    storage,
    connect: () => ground.connect(),
    desk,
    async start(options = {}, own = ground.connect()) {
      const one = await started(own, { http, ...options });
      return one;
    },
    async hook(name, behavior = () => ({}), input = {}) {
      const url = `https://${name}.example/hook`;
      there.at(url, behavior);
      return desk.webhooks.create({ url, events: ["message.received"], ...input });
    },
    async crowd(count, behavior) {
      const [like] = await all(webhooks);
      if (like === undefined) throw new Error("make one first");
      const rows = Array.from({ length: count }, (_, i) => {
        const url = `https://x${i}.example/hook`;
        there.at(url, behavior);
        return { ...like, id: `wh_x${i}`, ordinal: i + 10, url, version: 1 };
      });
      const { account_id, mode } = like;
      const pattern = "message.received";
      await storage.begin().commit([
        ...rows.map((row) => ({ kind: "insert" as const, collection: webhooks, row })),
        ...rows.map(({ id }) => ({
          kind: "insert" as const,
          collection: webhookPatterns,
          row: { account_id, mode, pattern, webhook_id: id, version: 1 },
        })),
      ]);
    },
    async tell(count = 1) {
      const ids: string[] = [];
      for (let i = 0; i < count; i++) {
        ids.push((await desk.sandbox.event({ type: "message.received" })).id);
      }
      return ids;
    },
    async pass(ms) {
      await clock.advance(Math.min(ms, plentyMs));
      if (ms <= plentyMs) return;
      await idle();
      step(Math.max(0, ms - 2 * plentyMs));
      await clock.advance(Math.min(ms - plentyMs, plentyMs));
    },
    idle,
    step,
    steps,
    webhooks: () => all(webhooks),
    deliveries: () => all(deliveries, deliveriesByPosition),
    attempts: () => all(deliveryAttempts),
  };
}
