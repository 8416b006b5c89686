import { TidingsError } from "../../../src/kernel/index.ts";
import type {
  AgentModel,
  Clock,
  HttpClient,
  Logger,
  Random,
  StoragePort,
  Transport,
} from "../../../src/ports/index.ts";
import type { MessagingEngine } from "../../entry.ts";
import { scriptedCarriers, type ScriptedCarrier } from "../carrier/scripted-carrier.ts";
import { scriptedModels, type ScriptedModel } from "../model/scripted-model.ts";
import { scriptedReceivers, type ScriptedReceiver } from "../receiver/scripted-receiver.ts";
import { seededRandom } from "../simulated/seeded-random.ts";
import { ProcessRun, type EngineRun } from "./engine-run.ts";
import { maxSkewMs, type Fault, type FaultSource, type MetFault } from "./faults.ts";
import type { LogLine } from "./observer.ts";
import { faultyStorage } from "./ports/faulty-storage.ts";
import { faultyTransport } from "./ports/faulty-transport.ts";
import type { Call } from "./ports/port-calls.ts";
import type { Remote, RunContext, WorldContext } from "./run-context.ts";

/** A carrier of a world, or a function that makes the transport of one engine. */
export type WorldTransport = ScriptedCarrier | (() => Transport);

/** What a world gives to an engine: its connections to everything outside it. */
export interface EnginePorts<Tx extends object | undefined = object | undefined> {
  /** The storage of the world, over a connection of this engine. */
  readonly storage: StoragePort<Tx>;
  /** The carriers of the world, over connections of this engine. */
  readonly transports: readonly Transport[];
  /** The connection to the receivers of webhooks, as the engine's option `http`. */
  readonly http: {
    /** The HTTP client, over connections of this engine. */
    readonly client: HttpClient;
  };
  /** The model of agents, as the engine's option `agents`. */
  readonly agents: {
    /** The model, over connections of this engine. */
    readonly model: AgentModel;
  };
  /** The clock of this engine: the world's clock, perhaps with an error of some seconds. */
  readonly clock: Clock;
  /** Random bytes. They depend on the seed, the engine and the number of its run. */
  readonly random: Random;
  /** Writes warnings and errors into the story. */
  readonly logger: Logger;
}

/** Makes an engine from its ports, at each start of its process. */
export type MakeEngine<Tx extends object | undefined = object | undefined> = (
  ports: EnginePorts<Tx>,
  run: EngineRun,
) => MessagingEngine<Tx>;

/** What the processes of a world have in common. */
export interface ProcessSettings<Tx extends object | undefined> {
  readonly world: WorldContext;
  readonly seed: number;
  readonly faults: FaultSource;
  readonly transports: readonly WorldTransport[];
  readonly receiver: ScriptedReceiver;
  readonly model: ScriptedModel;
  readonly makeEngine: MakeEngine<Tx>;
}

/** How long a process stays down after a fault has crashed it, in milliseconds. */
const restartsAfterMs = { min: 100, max: 60_000 };
/** How long an engine waits after a failed start before it tries again. */
const startsAgainMs = 500;

/** A process that runs an engine. Each restart runs a new engine on the same storage. */
export class EngineProcess<Tx extends object | undefined> {
  readonly name: string;
  readonly #settings: ProcessSettings<Tx>;
  readonly #number: number;
  readonly #cutOff = new Set<Remote>();
  #run: ProcessRun;
  #engine: MessagingEngine<Tx> | undefined;
  #isStopping = false;
  #failure: string | undefined;

  constructor(name: string, number: number, settings: ProcessSettings<Tx>) {
    this.name = name;
    this.#number = number;
    this.#settings = settings;
    this.#run = new ProcessRun(name, 0, () => settings.world.clock.monotonic());
    this.#run.end();
  }

  /** The latest run. */
  get run(): ProcessRun {
    return this.#run;
  }

  /** The running engine. Undefined while none runs, and while it stops. */
  get engine(): MessagingEngine<Tx> | undefined {
    return this.#run.isAlive && !this.#isStopping ? this.#engine : undefined;
  }

  /** Why the engine could not start. Undefined if it could. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** What the engine cannot reach. */
  get cutOff(): Set<Remote> {
    return this.#cutOff;
  }

  start(): void {
    if (this.#run.isAlive) return;
    const { world, makeEngine } = this.#settings;
    const run = new ProcessRun(this.name, this.#run.number + 1, () => world.clock.monotonic());
    const context = this.#contextOf(run);
    if (context.occurs("clockSkewed", { call: "start" })) {
      run.skewMs = world.dice.between(-maxSkewMs, maxSkewMs);
    }
    // If this throws, the process stays down.
    const engine = makeEngine(this.#portsOf(context), run);
    this.#run = run;
    this.#isStopping = false;
    this.#failure = undefined;
    this.#engine = engine;
    world.story.note([this.name], `${this.name} starts`);
    void this.#start(engine, run);
  }

  #contextOf(run: ProcessRun): RunContext {
    const { world } = this.#settings;
    return {
      world,
      run,
      clock: clockOf(world, run),
      // Calls of a process that has crashed may still be under way. Nothing happens to them any
      // more.
      occurs: (fault, at) => run.isAlive && this.#occurs(fault, at),
      isCutOff: (remote) => this.#cutOff.has(remote),
      crash: (why) => {
        if (run === this.#run) this.crash(why, this.#restartDelay());
      },
    };
  }

  #portsOf(context: RunContext): EnginePorts<Tx> {
    const { world, seed, transports, receiver, model } = this.#settings;
    const { run, clock } = context;
    return {
      storage: faultyStorage<Tx>(context),
      transports: transports.map((each) =>
        faultyTransport(
          context,
          typeof each === "function" ? each() : scriptedCarriers.connect(each, context),
        ),
      ),
      http: { client: scriptedReceivers.connect(receiver, context) },
      agents: { model: scriptedModels.connect(model, context) },
      clock,
      random: seededRandom(seed * 10_000 + this.#number * 100 + run.number),
      logger: storyLogger(world, run),
    };
  }

  /**
   * Ends the process: the engine runs no further, and none of its pending calls return. It starts
   * again after `restartAfterMs`, if that is given.
   */
  crash(why: string, restartAfterMs?: number): void {
    if (!this.#run.isAlive) return;
    const { world } = this.#settings;
    world.story.note([this.name], `${this.name} crashes${why === "" ? "" : ` ${why}`}`);
    world.watchers.delete(this.#run);
    this.#run.end();
    if (restartAfterMs !== undefined) this.#startLater(restartAfterMs);
  }

  /**
   * Stops the engine cleanly, as a deployment does. It stays down, unless a fault crashes it while
   * it stops: then it restarts.
   */
  async stop(deadlineMs: number): Promise<void> {
    const { engine } = this;
    if (engine === undefined) return;
    const { world } = this.#settings;
    const run = this.#run;
    this.#isStopping = true;
    world.story.note([this.name], `${this.name} stops`);
    await Promise.race([engine.stop({ deadlineMs }), run.ended]);
    if (!run.isAlive) return;
    world.story.note([this.name], `${this.name} has stopped`);
    if (world.watchers.has(run)) {
      throw new Error(`${this.name} has stopped and still watches the storage.`);
    }
    run.end();
  }

  /** Ends the process because its world ends. The story does not mention it. */
  end(): void {
    this.#run.end();
    this.#settings.world.watchers.delete(this.#run);
  }

  #occurs(fault: Fault, { call, reads = [], writes = [] }: Call): boolean {
    const { world, faults } = this.#settings;
    const describe = (): MetFault => {
      const read = reads.map(({ index }) => index.collection.name);
      const written = writes.map(({ collection }) => collection.name);
      const collections = [...new Set([...read, ...written])];
      return { fault, engine: this.name, call, collections, writes };
    };
    if (!faults.occurs(fault, this.name, describe)) return false;
    world.observe.onFault?.(describe());
    return true;
  }

  #fail(error: unknown): void {
    this.#failure = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    this.#settings.world.story.note([this.name], `${this.name} cannot start: ${this.#failure}`);
  }

  #restartDelay(): number {
    return this.#settings.world.dice.between(restartsAfterMs.min, restartsAfterMs.max);
  }

  #startLater(ms: number): void {
    const crashed = this.#run;
    void this.#settings.world.clock.sleep(ms).then(() => {
      // The process may have been started in the meantime.
      if (crashed !== this.#run) return;
      try {
        this.start();
      } catch (error) {
        this.#fail(error);
      }
    });
  }

  async #start(engine: MessagingEngine<Tx>, run: EngineRun): Promise<void> {
    const { clock } = this.#settings.world;
    while (run.isAlive) {
      try {
        return await engine.start();
      } catch (error) {
        const isStopping = error instanceof TidingsError && error.code === "shutting_down";
        if (isStopping || this.#run !== run) return;
        if (!(error instanceof TidingsError && error.retryable)) return this.#fail(error);
        await run.guard(clock.sleep(startsAgainMs));
      }
    }
  }
}

function clockOf({ clock }: WorldContext, run: EngineRun): Clock {
  return {
    now: () => Math.round(clock.now() + run.skewMs),
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => run.guard(clock.sleep(ms, signal)),
  };
}

function storyLogger({ story, log, observe }: WorldContext, { name }: EngineRun): Logger {
  const at =
    (level: LogLine["level"]) =>
    (facts: object, message: string): void => {
      const kind = level === "warn" ? "a warning" : "an error";
      story.note([name], `${name} logs ${kind}: ${message}`);
      const line = { engine: name, level, facts, message };
      log.push(line);
      observe.onLog?.(line);
    };
  return { debug() {}, info() {}, warn: at("warn"), error: at("error") };
}
