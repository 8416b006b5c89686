import {
  arm,
  Dispatcher,
  EngineRegister,
  findIdleJob,
  firstDueAt,
  type JobHandlers,
  type JobRow,
  jobs,
  pools,
  type Runnable,
  Signal,
} from "../queue/index.ts";
import type { AgentRuntime } from "../agents/index.ts";
import type { ConsumerRuntime, Consumers } from "../events/index.ts";
import { isMessageInProgress, startTransports, stopTransports } from "../messages/index.ts";
import type { Settings } from "./options.ts";
import { WebhookWaker, type WebhookRuntime } from "../webhooks/index.ts";
import { reapJob } from "../privacy/index.ts";
import { type Action, analyzerName, type Clock } from "../ports/index.ts";
import type { KeyObject } from "node:crypto";
import { contactActivity } from "../conversations/index.ts";
import { type GenerateId, hourMs } from "../kernel/index.ts";
import {
  type HookHandler,
  type HostPolicies,
  readTransportFacts,
  type Runtime,
  type Services,
  type Signals,
} from "../operations/index.ts";
import { createSandboxSenders } from "../senders/index.ts";
import type { Store } from "../store/index.ts";

/** The background work of a started engine. */
export interface Work {
  /** Checks for new work, because another process may have committed some. */
  wake(): void;
  /**
   * Starts no more jobs. Aborts those that still run at the deadline, and waits until they have
   * ended.
   */
  stop(deadlineMs: number): Promise<void>;
}

/** How long the transports may take to stop when the engine fails to start, in milliseconds. */
const undoMs = 10_000;

/** The dependencies of all the engine's jobs. */
export type EngineRuntime = Settings & AgentRuntime & Runtime & ConsumerRuntime & WebhookRuntime;

export async function startWork(
  runtime: EngineRuntime,
  createHandlers: (runtime: EngineRuntime) => JobHandlers,
  consumers: Consumers,
): Promise<Work> {
  const { store, clock, logger, storage, transports } = runtime;
  await store.commitUnscoped((tx) => arm(tx, reapJob(tx.now)));
  await consumers.open();
  await startTransports(transports, runtime);
  const register = new EngineRegister({ store, clock, logger, locks: storage.engineLocks });
  try {
    await register.start();
  } catch (error) {
    await stopTransports(transports, undoMs, runtime);
    throw error;
  }
  const dispatcher = new Dispatcher({
    ...runtime,
    handlers: createHandlers(runtime),
    leasedBy: () => register.leasedBy,
    ...runnableJobs(runtime, consumers),
    consumerConcurrency: store.hasTransactions
      ? storage.capabilities.transactions
      : runtime.concurrency,
  });
  const webhookWaker = new WebhookWaker({ store, clock, logger });
  webhookWaker.start();
  consumers.start(() => dispatcher.wake());
  return {
    wake() {
      webhookWaker.wake();
      dispatcher.wake();
    },
    async stop(deadlineMs) {
      await webhookWaker.stop();
      const isIdle = await dispatcher.stop(deadlineMs);
      await register.stop({ isIdle });
    },
  };
}

/** Returns which jobs the engine can run with its options. */
function runnableJobs(
  { transports, sentiment, http, agents }: EngineRuntime,
  consumers: Consumers,
): Runnable {
  const remotes = new Set(transports.map(({ name }) => name));
  if (sentiment !== undefined) remotes.add(analyzerName);
  return {
    pools: pools.filter(
      (pool) => pool === "work" || (pool === "turns" ? agents : http) !== undefined,
    ),
    remotes,
    serves: (lane) => consumers.serves(lane),
  };
}

/** How long work waits before the engine checks whether any engine runs it, in milliseconds. */
const waitMs = 4_000;
/**
 * The time until the second check, in milliseconds. Between two jobs, a busy dispatcher holds no
 * lease for a moment, so one check proves nothing.
 */
const confirmMs = 1_000;

/**
 * Warns once if work of an engine that was never started has been due for 5 seconds and no engine
 * on the storage runs it. Its timers do not keep the process alive.
 */
export class StartReminder {
  readonly #runtime: EngineRuntime;
  readonly #runnable: Runnable;
  readonly #clock: Clock;
  readonly #wake: Signal;
  readonly #stop = new AbortController();
  readonly #unsubscribe: () => void;

  constructor(runtime: EngineRuntime, consumers: Consumers) {
    const { clock, store } = runtime;
    this.#runtime = runtime;
    this.#runnable = runnableJobs(runtime, consumers);
    this.#clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      sleep: (ms, signal) => clock.sleep(ms, signal, { ref: false }),
    };
    this.#wake = new Signal(this.#clock);
    this.#unsubscribe = store.onCommit((writes) => {
      if (writes.some(({ collection }) => collection === jobs)) this.wake();
    });
    void this.#run();
  }

  /** Looks for due work again. Call this when another process may have armed jobs. */
  wake(): void {
    this.#wake.raise();
  }

  stop(): void {
    this.#unsubscribe();
    this.#stop.abort();
    this.wake();
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        if (await this.#isIdle()) break;
      } catch {
        // The storage does not respond. Commands report that.
        await this.#sleep(waitMs);
      }
    }
    this.stop();
  }

  /** Waits for due work. Returns whether no engine ran it, after a warning. */
  async #isIdle(): Promise<boolean> {
    const { store, logger } = this.#runtime;
    this.#wake.lower();
    const dueAt = await firstDueAt(store.unscopedReads, this.#runnable.pools);
    const age = this.#clock.now() - (dueAt ?? Infinity);
    if (age < 0) {
      await this.#wake.wait(-age);
      await this.#sleep(confirmMs);
      return false;
    }
    await this.#sleep(age < waitMs ? waitMs - age : waitMs);
    const job = await this.#findIdleJob();
    if (job === undefined) return false;
    await this.#sleep(confirmMs);
    const later = await this.#findIdleJob();
    if (later?.kind !== job.kind || later.key !== job.key) return false;
    if (this.#stop.signal.aborted) return false;
    logger.warn(
      { job: job.kind, due_at: new Date(job.due_at).toISOString() },
      "work is due, but no engine runs it: call engine.start() here or in another process on " +
        "the same storage",
    );
    return true;
  }

  async #findIdleJob(): Promise<JobRow | undefined> {
    if (this.#stop.signal.aborted) return undefined;
    const now = this.#clock.now();
    return findIdleJob(this.#runtime.store.unscopedReads, this.#runnable, {
      now,
      since: now - waitMs,
    });
  }

  #sleep(ms: number): Promise<void> {
    return this.#clock.sleep(ms, this.#stop.signal);
  }
}

interface RuntimeOptions {
  readonly settings: Settings;
  readonly store: Store;
  readonly drawId: GenerateId;
  readonly hostPolicies: HostPolicies;
  readonly consumers: Consumers;
  readonly hookHandlers: readonly HookHandler[];
  readonly secret: KeyObject;
  readonly signals: Signals;
}

/** Builds the dependencies of operations and jobs from the settings, once the storage is open. */
export function engineRuntime({
  settings,
  store,
  drawId,
  hostPolicies,
  consumers,
  hookHandlers,
  secret,
  signals,
}: RuntimeOptions): EngineRuntime {
  const { random, limits, transports, routes, sentiment, webchat, consent } = settings;
  const { quietHours, language, timeZone, reopenHours, http, agents, historyChunks } = settings;
  const services: Services = {
    drawId,
    random,
    limits,
    transports,
    factsByTransport: readTransportFacts(transports),
    routes,
    consent,
    quietHours,
    language,
    timeZone,
    reopenMs: reopenHours * hourMs,
    webchatSessionMs: webchat.sessionHours * hourMs,
    scoresSentiment: sentiment !== undefined,
    destinations: http?.destinations,
    hasAgents: agents !== undefined,
    actions: agents?.actions ?? new Map<string, Action>(),
    contactActivity,
    hookHandlers,
    setUpSandbox: createSandboxSenders,
    isInProgress: isMessageInProgress,
    secret,
    historyChunks,
  };
  const own = { store, drawId, services, hostPolicies, consumers, signals };
  return { ...settings, ...own };
}
