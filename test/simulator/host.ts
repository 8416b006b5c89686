import { MessagingEngine, TidingsError } from "../../adapters/entry.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Logger } from "../../src/ports/logger.ts";
import type { TransportSink } from "../../src/ports/transport.ts";
import { seededRandom } from "../../src/testing/index.ts";
import { analyzer } from "./analyzer.ts";
import { faultyStorage } from "./faulty-storage.ts";
import { Life } from "./life.ts";
import { carrierName, type Line, line, spareName } from "./line.ts";
import { reopenHours } from "./terms.ts";
import { mind } from "./minds.ts";
import type { World } from "./world.ts";

/** A process with an engine in it. It crashes, and comes again with a new engine on the same storage. */
export class Host {
  readonly name: string;
  readonly #world: World;
  readonly #number: number;
  #lives = 0;
  #life: Life;
  #lines: readonly Line[] = [];
  #engine: MessagingEngine | undefined;

  constructor(world: World, number: number) {
    this.#world = world;
    this.#number = number;
    this.#life = new Life("nobody", () => world.clock.now());
    this.name = `engine ${number}`;
  }

  get life(): Life {
    return this.#life;
  }

  /** The engine that runs now; undefined when none does. */
  get engine(): MessagingEngine | undefined {
    return this.#life.alive ? this.#engine : undefined;
  }

  /** Where the carrier brings what it has to say over one of its lines; undefined where nobody listens. */
  sinkOf(transport: string): TransportSink | undefined {
    return this.#lines.find((each) => each.transport.name === transport)?.sink();
  }

  boot(): void {
    const { dice, faults, clock, seed, trace, terms, rule } = this.#world;
    const life = new Life(this.name, () => clock.now());
    life.skew = dice.between(-faults.skewMs, faults.skewMs);
    const crash = (why: string): void => {
      if (life === this.#life) this.crash(why);
    };
    const own: Clock = {
      now: () => Math.round(clock.now() + life.skew),
      sleep: (ms, signal) => life.guard(clock.sleep(ms, signal)),
    };
    const lines = [carrierName, spareName].map((name) => line(this.#world, life, name, crash));
    const engine = new MessagingEngine({
      storage: faultyStorage(this.#world, life, crash),
      transports: lines.map(({ transport }) => transport),
      routes: terms.routes,
      clock: own,
      http: { client: this.#world.receivers.client(life) },
      random: seededRandom(seed * 10_000 + this.#number * 100 + ++this.#lives),
      logger: this.#logger(),
      mode: "live",
      reopenHours,
      consent: terms.consent,
      policies: terms.hasRule ? [rule.asked(this.name)] : [],
      ...(terms.quietHours === undefined ? {} : { quietHours: terms.quietHours }),
      ...(terms.scoresSentiment ? { sentiment: analyzer(this.#world) } : {}),
      agents: {
        model: mind(this.#world, life, crash),
        actions: this.#world.works.actions(life, crash),
      },
    });
    this.#life = life;
    this.#lines = lines;
    this.#engine = engine;
    trace.note([this.name], `${this.name} starts`);
    void this.#start(engine, life);
  }

  /** From now on it does nothing, and nothing that it waits for comes. */
  crash(why: string): void {
    if (!this.#life.alive) return;
    this.#world.trace.note([this.name], `${this.name} crashes ${why}`);
    this.#world.watchers.delete(this.#life);
    this.#life.end();
    this.#rest();
  }

  /** Stops as a process does that is deployed anew. */
  async stop(): Promise<void> {
    const engine = this.engine;
    if (engine === undefined) return;
    const { trace, dice } = this.#world;
    const life = this.#life;
    trace.note([this.name], `${this.name} stops`);
    this.#engine = undefined;
    await Promise.race([engine.stop({ deadlineMs: dice.between(0, 10_000) }), life.died]);
    if (!life.alive) return;
    trace.note([this.name], `${this.name} has stopped`);
    if (this.#world.watchers.has(life)) {
      this.#world.accuse(
        "clean stop",
        [this.name],
        `${this.name} was stopped and still listens to the storage`,
      );
    }
    life.end();
    this.#rest();
  }

  #rest(): void {
    const { dice, clock } = this.#world;
    void clock.sleep(this.#world.healing ? 100 : dice.between(100, 60_000)).then(() => this.boot());
  }

  async #start(engine: MessagingEngine, life: Life): Promise<void> {
    const { clock } = this.#world;
    for (;;) {
      try {
        return await engine.start();
      } catch (error) {
        if (!(error instanceof TidingsError) || error.code === "shutting_down") return;
        await life.guard(clock.sleep(500));
      }
    }
  }

  /** What an engine calls an error and is not the storage's doing is a fault of its own. */
  #logger(): Logger {
    return {
      debug() {},
      info() {},
      warn() {},
      error: (facts, message) => {
        const error = Object.values(facts).find((each) => each instanceof Error);
        if (error instanceof TidingsError && error.retryable) return;
        const told = error === undefined ? message : `${message}: ${error.name}: ${error.message}`;
        this.#world.accuse(
          "no surprises",
          [this.name],
          `${this.name} logged an error of its own: ${told}`,
        );
      },
    };
  }
}
