import { MessagingEngine } from "../../src/engine.ts";
import { english } from "../../adapters/language/index.ts";
import { TidingsError } from "../../src/index.ts";
import type { Clock, Logger } from "../../src/ports/environment.ts";
import type { EngineOptions } from "../../src/host/options.ts";
import type { TransportSink } from "../../src/ports/transport.ts";
import { seededRandom } from "../../adapters/testing/index.ts";
import { agentModel } from "./agent-model.ts";
import { type CarrierTransport, carrierTransport } from "./carrier-transport.ts";
import { faultyStorage } from "./faulty-storage.ts";
import { laws } from "./invariant.ts";
import { Lifetime } from "./lifetime.ts";
import { sentimentAnalyzer } from "./sentiment-analyzer.ts";
import { backupTransport, historyChunks, primaryTransport, reopenHours } from "./settings.ts";
import type { World } from "./world.ts";

/**
 * A process that runs an engine. After a crash or a stop it starts again, with a new engine on the
 * same storage.
 */
export class EngineProcess {
  readonly name: string;
  readonly #world: World;
  readonly #number: number;
  #starts = 0;
  #lifetime: Lifetime;
  #transports: readonly CarrierTransport[] = [];
  #engine: MessagingEngine | undefined;

  constructor(world: World, number: number) {
    this.#world = world;
    this.#number = number;
    this.#lifetime = new Lifetime("not started", () => world.clock.now());
    this.name = `engine ${number}`;
  }

  get lifetime(): Lifetime {
    return this.#lifetime;
  }

  /** The running engine; undefined when none runs. */
  get engine(): MessagingEngine | undefined {
    return this.#lifetime.isAlive ? this.#engine : undefined;
  }

  /** Where the carrier delivers receipts and inbound messages; undefined when no engine runs. */
  sinkOf(transport: string): TransportSink | undefined {
    return this.#transports.find((each) => each.transport.name === transport)?.sink();
  }

  start(): void {
    const { dice, faults, clock, seed, trace, settings, policy } = this.#world;
    const lifetime = new Lifetime(this.name, () => clock.now());
    lifetime.skew = dice.between(-faults.skewMs, faults.skewMs);
    const crash = (why: string): void => {
      if (lifetime === this.#lifetime) this.crash(why);
    };
    const skewedClock: Clock = {
      now: () => Math.round(clock.now() + lifetime.skew),
      monotonic: () => clock.monotonic(),
      sleep: (ms, signal) => lifetime.guard(clock.sleep(ms, signal)),
    };
    const transports = [primaryTransport, backupTransport].map((name) =>
      carrierTransport(this.#world, lifetime, name, crash),
    );
    const options: EngineOptions = {
      storage: faultyStorage(this.#world, lifetime, crash),
      transports: transports.map(({ transport }) => transport),
      routes: settings.routes,
      http: { client: this.#world.receivers.client(lifetime) },
      mode: "live",
      reopenHours,
      consent: settings.consent,
      policies: settings.hasPolicy ? [policy.forEngine(this.name)] : [],
      ...(settings.quietHours === undefined ? {} : { quietHours: settings.quietHours }),
      ...(settings.scoresSentiment ? { sentiment: sentimentAnalyzer(this.#world) } : {}),
      agents: {
        model: agentModel(this.#world, lifetime, crash),
        actions: this.#world.actionBackend.actions(lifetime, crash),
      },
    };
    const defaults = {
      clock: skewedClock,
      random: seededRandom(seed * 10_000 + this.#number * 100 + ++this.#starts),
      logger: this.#logger(),
      language: english(),
      historyChunks,
    };
    const engine = new MessagingEngine(options, defaults);
    this.#lifetime = lifetime;
    this.#transports = transports;
    this.#engine = engine;
    trace.note([this.name], `${this.name} starts`);
    void this.#start(engine, lifetime);
  }

  /** Ends the process. The engine runs no further, and none of its pending calls return. */
  crash(why: string): void {
    if (!this.#lifetime.isAlive) return;
    this.#world.trace.note([this.name], `${this.name} crashes ${why}`);
    this.#world.storageWatchers.delete(this.#lifetime);
    this.#lifetime.end();
    this.#restart();
  }

  /** Stops the engine cleanly, as a deployment does. */
  async stop(): Promise<void> {
    const engine = this.engine;
    if (engine === undefined) return;
    const { trace, dice } = this.#world;
    const lifetime = this.#lifetime;
    trace.note([this.name], `${this.name} stops`);
    this.#engine = undefined;
    const stopped = engine.stop({ deadlineMs: dice.between(0, 10_000) });
    await Promise.race([stopped, lifetime.ended]);
    if (!lifetime.isAlive) return;
    trace.note([this.name], `${this.name} has stopped`);
    if (this.#world.storageWatchers.has(lifetime)) {
      this.#world.report(
        laws.cleanStop,
        [this.name],
        `${this.name} has stopped and still watches the storage`,
      );
    }
    lifetime.end();
    this.#restart();
  }

  #restart(): void {
    const { dice, clock, faultsStopped } = this.#world;
    void clock.sleep(faultsStopped ? 100 : dice.between(100, 60_000)).then(() => this.start());
  }

  async #start(engine: MessagingEngine, lifetime: Lifetime): Promise<void> {
    const { clock } = this.#world;
    for (;;) {
      try {
        return await engine.start();
      } catch (error) {
        if (!(error instanceof TidingsError) || error.code === "shutting_down") return;
        await lifetime.guard(clock.sleep(500));
      }
    }
  }

  /**
   * An error in the log is a violation, unless it is a retryable one, such as a storage fault, or
   * reports the policy, which fails at random.
   */
  #logger(): Logger {
    return {
      debug() {},
      info() {},
      warn() {},
      error: (facts, message) => {
        if (message === "a policy failed") return;
        const error = Object.values(facts).find((each) => each instanceof Error);
        if (error instanceof TidingsError && error.retryable) return;
        const text = error === undefined ? message : `${message}: ${error.name}: ${error.message}`;
        this.#world.report(
          laws.noUnexpectedErrors,
          [this.name],
          `${this.name} logged an unexpected error: ${text}`,
        );
      },
    };
  }
}
