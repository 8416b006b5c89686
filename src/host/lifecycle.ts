import { createSecretKey } from "node:crypto";
import { prepareStorage, type KeyRing } from "../accounts/index.ts";
import type { LiveStreams } from "../api/index.ts";
import type { AccountOf, Consumers } from "../events/index.ts";
import { endsBefore, stopped, TidingsError } from "../kernel/index.ts";
import { stopTransports } from "../messages/index.ts";
import {
  Executor,
  type HookHandler,
  type HostPolicies,
  type Prepared,
} from "../operations/index.ts";
import type { JobHandlers } from "../queue/index.ts";
import { createSandboxSenders } from "../senders/index.ts";
import { background, type Store } from "../store/index.ts";
import { AwaitedWork } from "./awaited-work.ts";
import { startWork, type Work } from "./background-work.ts";
import { engineRuntime, type EngineRuntime } from "./engine-runtime.ts";
import type { Settings } from "./options/options.ts";
import { StartReminder } from "./start-reminder.ts";

interface LifecycleOptions {
  readonly settings: Settings;
  readonly store: Store;
  readonly hostPolicies: HostPolicies;
  readonly keyRing: KeyRing;
  readonly streams: LiveStreams;
  readonly consumers: Consumers;
  readonly hookHandlers: readonly HookHandler[];
  readonly jobHandlers: (runtime: EngineRuntime) => JobHandlers;
  readonly accountOf: AccountOf;
  /** Aborted at the deadline of a stop, or when the stop ends. */
  readonly deadline: AbortController;
}

/**
 * The life of an engine. The first command prepares it: that opens the storage. `start` then begins
 * the background work, which commands do without. `stop` ends what there is, at any time and for
 * good.
 */
export class Lifecycle {
  readonly #options: LifecycleOptions;
  readonly #preparation = new Once(() => this.#prepare());
  readonly #startUp = new Once(() => this.#start());
  #stopping: Promise<void> | undefined;
  readonly #awaited = new AwaitedWork();
  /** Whether this engine has opened the storage, even if the rest of the preparation failed. */
  #isOpen = false;
  /** Ends the notifications of the storage, which come from the preparation on. */
  #unwatch: (() => void) | undefined;
  /** Runs in an engine that is prepared and not started. */
  #reminder: StartReminder | undefined;
  /** The work of a started engine. */
  #work: Work | undefined;

  constructor(options: LifecycleOptions) {
    this.#options = options;
  }

  /**
   * Prepares the engine unless it is prepared. After `stop`, only calls from inside work that it
   * waits for are accepted.
   * @throws TidingsError after `stop`
   */
  prepared(): Promise<Prepared<EngineRuntime>> {
    const isAccepted = this.#stopping === undefined || this.#awaited.isInside();
    return isAccepted ? this.#preparation.done() : Promise.reject(stopped());
  }

  /**
   * Runs a call of the host application or of a client. A stop waits for it, up to its deadline.
   * @throws TidingsError after `stop`; and the errors of `call`
   */
  run<T>(call: (prepared: Prepared<EngineRuntime>) => Promise<T>): Promise<T> {
    const prepared = this.prepared();
    return this.#awaited.run(async () => call(await prepared));
  }

  /**
   * Runs a handler of events. A stop waits for it, up to its deadline, unless the handler has
   * called `stop` itself. It may call the engine meanwhile.
   */
  runHandler(handler: () => Promise<void>): Promise<void> {
    return this.#awaited.run(handler, { mayLeave: true });
  }

  /** @throws TidingsError after `stop` */
  refuseAfterStop(): void {
    if (this.#stopping !== undefined) throw stopped();
  }

  /** Starts the engine unless it is started. @throws TidingsError after `stop` */
  async start(): Promise<void> {
    this.refuseAfterStop();
    await this.#startUp.done();
  }

  /** Stops the engine unless it is stopped. */
  stop(deadlineMs: number): Promise<void> {
    this.#awaited.leave();
    return (this.#stopping ??= this.#stopInTime(deadlineMs));
  }

  async #prepare(): Promise<Prepared<EngineRuntime>> {
    const { settings, store, streams, consumers, deadline } = this.#options;
    const { storage, random } = settings;
    await store.open();
    this.#isOpen = true;
    // The first call may come from inside a transaction of another engine on this storage.
    const secret = await store.commitUnscoped(
      (tx) => prepareStorage(tx, { random, setUpSandbox: createSandboxSenders }),
      background,
    );
    if (this.#stopping === undefined) streams.signals.connect(storage);
    this.#unwatch = storage.watch?.(
      () => this.#wake(),
      (error) => store.reportDamage(error),
    );
    const runtime = engineRuntime({
      ...this.#options,
      secret: createSecretKey(secret),
      signals: streams.signals,
    });
    if (!this.#startUp.hasBegun && this.#stopping === undefined) {
      this.#reminder = new StartReminder(runtime, consumers);
    }
    const executor = new Executor({
      ...runtime,
      stopDeadline: deadline.signal,
      // What a job or a handler of events has called may go on: nobody would call it again.
      mustEnd: () => this.#stopping !== undefined && this.#awaited.isOutermost(),
    });
    return { runtime, executor };
  }

  /** Another process may have committed something. */
  #wake(): void {
    const { keyRing, streams, consumers } = this.#options;
    keyRing.invalidate();
    streams.wake();
    consumers.wake();
    this.#work?.wake();
    this.#reminder?.wake();
  }

  async #start(): Promise<Work> {
    const { jobHandlers, consumers, deadline } = this.#options;
    const { runtime } = await this.prepared();
    this.#reminder?.stop();
    this.#work = await startWork(runtime, {
      awaitedWork: this.#awaited,
      createHandlers: jobHandlers,
      consumers,
      stopDeadline: deadline.signal,
    });
    return this.#work;
  }

  async #stopInTime(deadlineMs: number): Promise<void> {
    const over = new AbortController();
    void this.#abortAt(deadlineMs, over.signal);
    try {
      await this.#stop();
    } finally {
      over.abort("stopped");
    }
  }

  /** From the deadline on, `stop` waits for nothing but work that was aborted, and its commits. */
  async #abortAt(deadlineMs: number, over: AbortSignal): Promise<void> {
    const { deadline, settings } = this.#options;
    const { clock, storage } = settings;
    await clock.sleep(deadlineMs, over);
    deadline.abort(waitedTooLong());
    if (!over.aborted) await storage.abandonUnless?.(over);
  }

  async #stop(): Promise<void> {
    const { settings, store, streams, consumers, deadline } = this.#options;
    streams.close();
    // A failed start leaves nothing to stop.
    const work = await this.#startUp.ended();
    await this.#preparation.ended();
    this.#reminder?.stop();
    this.#unwatch?.();
    await consumers.stop();
    await work?.stop();
    if (work !== undefined) await stopTransports(settings.transports, deadline.signal, settings);
    await endsBefore(deadline.signal, this.#awaited.ended());
    // Close only a storage that this engine opened, because another engine may use the same one.
    if (this.#isOpen) await store.close();
  }
}

function waitedTooLong(): TidingsError {
  return new TidingsError(
    "shutting_down",
    "The engine is shutting down, and this did not end by the deadline of `stop`.",
  );
}

/** Work that is done once. If it fails, nothing of it is left, and the next call does it again. */
class Once<T> {
  readonly #work: () => Promise<T>;
  #result: Promise<T> | undefined;

  constructor(work: () => Promise<T>) {
    this.#work = work;
  }

  /** Whether the work goes on or is done. */
  get hasBegun(): boolean {
    return this.#result !== undefined;
  }

  done(): Promise<T> {
    this.#result ??= this.#work().catch((error: unknown) => {
      this.#result = undefined;
      throw error;
    });
    return this.#result;
  }

  /** Waits for work that goes on. Returns undefined if it fails or was never begun. */
  async ended(): Promise<T | undefined> {
    return this.#result?.catch(() => undefined);
  }
}
