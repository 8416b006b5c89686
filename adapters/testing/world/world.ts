import { hourMs } from "../../../src/kernel/index.ts";
import type { StoragePort } from "../../../src/ports/index.ts";
import { MessagingEngine, type StopOptions } from "../../entry.ts";
import type { CarrierCall } from "../carrier/script.ts";
import type { ScriptedCarrier } from "../carrier/scripted-carrier.ts";
import { scriptedModel, type ScriptedModel } from "../model/scripted-model.ts";
import { scriptedReceiver, type ScriptedReceiver } from "../receiver/scripted-receiver.ts";
import { Dice } from "../simulated/dice.ts";
import { virtualClock, type VirtualClock } from "../simulated/virtual-clock.ts";
import {
  HostCalls,
  type CallOptions,
  type CallOutcome,
  type HostCode,
  type UpEngine,
} from "./calls.ts";
import { EngineProcess, type WorldTransport } from "./engine-process.ts";
import type { EngineRun } from "./engine-run.ts";
import {
  drawRates,
  FaultSource,
  maxSkewMs,
  type Fault,
  type FaultPlace,
  type FaultRates,
} from "./faults.ts";
import { throwMistake } from "./mistakes.ts";
import type { LogLine } from "./observer.ts";
import { checkFault, checkFinding, checkOptions, type CheckedOptions } from "./options.ts";
import { pendingJobs, skipIdleTime } from "./pending-jobs.ts";
import { SharedStorage } from "./ports/shared-storage.ts";
import type { Remote, WorldContext } from "./run-context.ts";
import { Story } from "./story.ts";
import type { CrashOptions, Law, SettleOptions, World, WorldOptions } from "./types.ts";
import { underWay } from "./under-way.ts";
import { Violation } from "./violation.ts";

/** How much virtual time all work may take once the faults have stopped. */
const settlesWithinMs = 48 * hourMs;
/** The virtual time between two looks at what is still to be done. */
const settleStepMs = 5_000;
/** How long a commit and the reads before it may take when faults delay them. */
const maxCommitMs = 90_000;
/** The virtual time between two looks for an engine that is up. */
const waitMs = 500;

/**
 * Returns a world: engines on one storage, one virtual clock and one seed. Everything outside the
 * engines can fail, and the same seed and the same calls give the same history.
 *
 * The engines start at once. Time stands still until `advance`, `run` or `settle` moves it.
 * @throws TidingsError `invalid_option` when an option is wrong
 */
export function world<Tx extends object | undefined>(options: WorldOptions<Tx>): World<Tx> {
  return new EngineWorld(checkOptions(options));
}

class EngineWorld<Tx extends object | undefined> implements World<Tx> {
  readonly seed: number;
  readonly clock: VirtualClock;
  readonly dice: Dice;
  readonly story: Story;
  readonly receiver: ScriptedReceiver;
  readonly model: ScriptedModel;
  readonly #faults: FaultSource;
  readonly #processes: readonly EngineProcess<Tx>[];
  readonly #transports: readonly WorldTransport[];
  readonly #context: WorldContext;
  readonly #calls: HostCalls<Tx>;
  #largestSkewMs = 0;
  /** Called when an engine that was cut off is connected again. */
  readonly #onHeal: (() => void)[] = [];

  constructor(options: CheckedOptions<Tx>) {
    const { seed, storage, transports, engines, start, observe, faults } = options;
    const {
      engine = (ports) => new MessagingEngine<Tx>(ports),
      receiver = scriptedReceiver(),
      model = scriptedModel(),
    } = options;
    this.seed = seed;
    this.dice = new Dice(seed);
    this.clock = virtualClock(start);
    this.story = new Story(() => this.clock.monotonic());
    const rates = faults === "any" ? drawRates(this.dice) : faults;
    this.#faults = new FaultSource(rates, this.dice);
    if ((rates.clockSkewed ?? 0) > 0) this.#largestSkewMs = maxSkewMs;
    this.#transports = transports;
    this.receiver = receiver;
    this.model = model;
    this.#context = {
      clock: this.clock,
      dice: this.dice,
      story: this.story,
      storage: new SharedStorage(storage),
      observe,
      maxYields: this.dice.between(0, 3),
      heldLocks: new Set(),
      watchers: new Set(),
      calls: [],
      log: [],
      healed: () => new Promise((resolve) => this.#onHeal.push(resolve)),
    };
    this.#calls = new HostCalls(this.#context, (name) => this.whenUp(name));
    const settings = {
      world: this.#context,
      seed,
      faults: this.#faults,
      transports,
      receiver,
      model,
      makeEngine: engine,
    };
    this.#processes = Array.from(
      { length: engines },
      (_, i) => new EngineProcess(`engine ${i + 1}`, i + 1, settings),
    );
    for (const process of this.#processes) process.start();
  }

  get engines(): readonly string[] {
    return this.#processes.map(({ name }) => name);
  }

  get up(): readonly string[] {
    return this.#processes.filter(({ engine }) => engine !== undefined).map(({ name }) => name);
  }

  get faults(): Partial<FaultRates> {
    return this.#faults.rates;
  }

  get carriers(): readonly ScriptedCarrier[] {
    return this.#transports.filter((each) => typeof each !== "function");
  }

  get calls(): readonly CarrierCall[] {
    return this.#context.calls;
  }

  get log(): readonly LogLine[] {
    return this.#context.log;
  }

  get clockToleranceMs(): number {
    return 2 * this.#largestSkewMs;
  }

  get commitToleranceMs(): number {
    return (this.#faults.delaysCommits ? maxCommitMs : 0) + this.clockToleranceMs;
  }

  get reader(): StoragePort["reader"] {
    return this.#context.storage.reader;
  }

  engine(name?: string): MessagingEngine<Tx> {
    const processes = name === undefined ? this.#processes : [this.#process(name)];
    const engine = processes.find((each) => each.engine !== undefined)?.engine;
    if (engine === undefined) {
      throw new Error(`${name ?? "Every engine"} is down. Call restart() or settle() first.`);
    }
    return engine;
  }

  async whenUp(name?: string): Promise<UpEngine<Tx>> {
    const { run, engine, name: found } = await this.#running(name);
    // The engine may have crashed since it was chosen.
    return engine === undefined ? this.whenUp(name) : { name: found, run, engine };
  }

  runOf(name: string): EngineRun {
    return this.#process(name).run;
  }

  begin<T>(code: HostCode<T, Tx>, options: CallOptions = {}): Promise<CallOutcome<T>> {
    return this.#calls.begin(code, options);
  }

  async run<T>(code: HostCode<T, Tx>, options: CallOptions = {}): Promise<T> {
    const result = await this.#calls.run(code, options);
    throwMistake(this);
    return result;
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    throwMistake(this);
  }

  crash(name: string, { why = "", forMs }: CrashOptions = {}): void {
    this.#process(name).crash(why, forMs);
  }

  restart(name: string): void {
    this.#process(name).start();
  }

  stop(name: string, options: StopOptions = {}): Promise<void> {
    return this.#process(name).stop(options.deadlineMs ?? 10_000);
  }

  partition(name: string, from: Remote): void {
    this.#process(name).cutOff.add(from);
    this.story.note([name], `${name} is cut off from the ${from}`);
  }

  heal(name: string): void {
    const { cutOff } = this.#process(name);
    if (cutOff.size === 0) return;
    cutOff.clear();
    this.story.note([name], `${name} is no longer cut off`);
    for (const resolve of this.#onHeal.splice(0)) resolve();
  }

  skewClock(name: string, ms: number): void {
    this.#process(name).run.skewMs = ms;
    this.#largestSkewMs = Math.max(this.#largestSkewMs, Math.abs(ms));
    this.story.note([name], `the clock of ${name} is ${ms} ms ahead`);
  }

  inject(fault: Fault, place: FaultPlace = {}): void {
    checkFault(fault);
    if (place.engine !== undefined) this.#process(place.engine);
    this.#faults.inject(fault, place);
  }

  stopFaults(): void {
    this.#faults.stop();
    this.story.note([], "the faults stop");
    for (const process of this.#processes) {
      this.heal(process.name);
      process.start();
    }
  }

  async pending(): Promise<readonly string[]> {
    return [...this.#underWay(), ...(await pendingJobs(this.reader, this.clock.now()))];
  }

  /** What is still to be done, apart from jobs. */
  #underWay(): readonly string[] {
    return underWay({
      processes: this.#processes,
      calls: this.#calls.open,
      transports: this.#transports,
      now: this.clock.monotonic(),
    });
  }

  async settle({ withinMs = settlesWithinMs }: SettleOptions = {}): Promise<void> {
    this.stopFaults();
    const deadline = this.clock.now() + withinMs;
    for (;;) {
      for (const process of this.#processes) process.start();
      await this.advance(settleStepMs);
      const pending = await this.pending();
      if (pending.length === 0) return;
      if (this.#underWay().length === 0) {
        await skipIdleTime(this.reader, this.clock, this.story, deadline);
      }
      if (this.clock.now() >= deadline) {
        const list = pending.map((each) => `  ${each}`).join("\n");
        throw new Error(
          `The world did not settle within ${withinMs} ms. Still to be done:\n${list}\n` +
            `What happened:\n${this.story.tell()}`,
        );
      }
    }
  }

  async check(...laws: readonly Law<Tx>[]): Promise<void> {
    throwMistake(this);
    for (const law of laws) {
      const found = await this.#resultOf(law);
      checkFinding(law.name, found);
      if (found !== undefined) throw new Violation(law.name, found, this.story);
    }
  }

  async #resultOf(law: Law<Tx>): Promise<Awaited<ReturnType<Law<Tx>>>> {
    try {
      return await law(this);
    } catch (error) {
      // An assertion of the test runner, for example. It lacks the story.
      const message = error instanceof Error ? error.message : String(error);
      throw new Violation(law.name, message, this.story, error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#processes) process.end();
    await this.#context.storage.close();
  }

  #process(name: string): EngineProcess<Tx> {
    const process = this.#processes.find((each) => each.name === name);
    if (process !== undefined) return process;
    throw new Error(`There is no "${name}". The engines are: ${this.engines.join(", ")}.`);
  }

  /** A process whose engine is up. Waits for one if all are down. */
  async #running(name: string | undefined): Promise<EngineProcess<Tx>> {
    const candidates = name === undefined ? this.#processes : [this.#process(name)];
    for (;;) {
      const up = candidates.filter(({ engine }) => engine !== undefined);
      const chosen = up.length > 1 ? this.dice.pick(up) : up[0];
      if (chosen !== undefined) return chosen;
      await this.clock.sleep(waitMs);
    }
  }
}
