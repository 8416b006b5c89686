import { english } from "../../adapters/language/index.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import {
  Dice,
  world as makeWorld,
  type EnginePorts,
  type EngineRun,
  type LogLine,
  type Remote,
  type ScriptedCarrier,
  type Story,
  type World as TestWorld,
  type UpEngine,
  type VirtualClock,
  type WebhookRequest,
} from "../../adapters/testing/index.ts";
import { maxDelayMs } from "../../adapters/testing/world/faults.ts";
import { MessagingEngine } from "../../src/engine.ts";
import { TidingsError } from "../../src/index.ts";
import type { StoragePort, Write } from "../../src/ports/storage.ts";
import { ActionBackend, type ActionEffect } from "./action-backend.ts";
import { agentModel } from "./agent-model.ts";
import { AimedFaults } from "./aimed-faults.ts";
import { Bookkeeper } from "./bookkeeper.ts";
import { drawTraits, makeCarrier, type CarrierTraits } from "./carrier.ts";
import { Clients } from "./clients.ts";
import { drawFaults, noFaults, type Faults, type HostFault } from "./faults.ts";
import { HostPolicy } from "./host-policy.ts";
import { laws, type Checks, type Finding, type Invariant, type Violation } from "./invariant.ts";
import { Coverage } from "./met-faults/coverage.ts";
import type { ProcessFault } from "./met-faults/places.ts";
import { Operators } from "./operators.ts";
import { UniqueWords } from "./personal-data.ts";
import { PhoneNumbers } from "./phone-numbers.ts";
import { ResourceHistory } from "./resource-history.ts";
import { sentimentAnalyzer } from "./sentiment-analyzer.ts";
import {
  backupTransport,
  drawSettings,
  historyChunks,
  reopenHours,
  type Settings,
} from "./settings.ts";
import { WebchatVisitors } from "./visitors.ts";
import { WebhookReceivers } from "./webhook-receivers.ts";
import { drawWorkload, type Workload } from "./workloads.ts";

const cutOffFrom: Readonly<Record<Remote, ProcessFault>> = {
  storage: "cutOffStorage",
  carrier: "cutOffCarrier",
  internet: "cutOffInternet",
};

/**
 * Everything in one history: a world with engines, and everybody who uses them. The simulator adds
 * the host application, its clients, and invariants that read the engine's tables.
 */
export class World {
  readonly seed: number;
  /** The choices of everybody outside the engines. Those of the faults are the test world's. */
  readonly dice: Dice;
  /** The engines, the storage, the carrier and their faults. */
  readonly engines: TestWorld<undefined>;
  /** The committed state. The simulator reads it directly; no fault applies. */
  readonly database: StoragePort<undefined> = memory();
  readonly carrier: ScriptedCarrier;
  readonly traits: CarrierTraits;
  readonly clients: Clients;
  readonly receivers: WebhookReceivers;
  readonly actionBackend = new ActionBackend(this);
  readonly workload: Workload;
  readonly settings: Settings;
  readonly phones: PhoneNumbers;
  readonly words = new UniqueWords();
  readonly history = new ResourceHistory();
  readonly operators: Operators;
  readonly visitors: WebchatVisitors;
  readonly policy: HostPolicy;
  readonly coverage = new Coverage((name, run) => this.aimed.onOperation(name, run));
  readonly bookkeeper = new Bookkeeper(this);
  /** The engines' clocks are not equal. */
  readonly clocksDiffer: boolean;
  faults: Faults;
  faultsStopped = false;
  /** The first violation that was found. */
  finding: Finding | undefined;
  readonly aimed: AimedFaults;
  readonly #checks: { readonly name: string; readonly checks: Checks }[] = [];

  constructor(seed: number, invariants: readonly Invariant[]) {
    this.seed = seed;
    // Not the seed of the faults, whose draws would be the same.
    this.dice = new Dice(seed + 0.5);
    this.faults = drawFaults(this.dice);
    this.workload = drawWorkload(this.dice);
    this.settings = drawSettings(this.dice);
    this.aimed = new AimedFaults(this);
    this.phones = new PhoneNumbers(this.workload.phones);
    this.traits = drawTraits(this.dice);
    this.carrier = makeCarrier(this.dice, this.traits, this.settings, (call) =>
      this.#check((checks) => checks.call?.(call)),
    );
    this.clients = new Clients(this);
    this.receivers = new WebhookReceivers(this);
    this.operators = new Operators(this);
    this.visitors = new WebchatVisitors(this);
    this.policy = new HostPolicy(this);
    this.engines = makeWorld<undefined>({
      seed,
      storage: this.database,
      transports: [this.carrier, this.carrier.as(backupTransport)],
      receiver: this.receivers.receiver,
      model: agentModel(this),
      engines: this.dice.between(2, 3),
      engine: (ports, run) => this.#engine(ports, run),
      faults: "any",
      observe: {
        onCommit: (run, writes) => this.#onCommit(run, writes),
        onFault: (met) => this.coverage.onFault(met),
        onLog: (line) => this.#onLog(line),
      },
    });
    this.clocksDiffer = (this.engines.faults.clockSkewed ?? 0) > 0;
    for (const { name, check } of invariants) this.#checks.push({ name, checks: check(this) });
  }

  get clock(): VirtualClock {
    return this.engines.clock;
  }

  get trace(): Story {
    return this.engines.story;
  }

  /** Only the first violation counts, since later ones may follow from it. */
  report(invariant: string, about: readonly string[], description: string): void {
    this.finding ??= { invariant, about, description, at: this.trace.entries.length };
  }

  onWebhookRequest(request: WebhookRequest): void {
    this.#check((checks) => checks.webhookRequest?.(request));
  }

  onActionEffect(effect: ActionEffect): void {
    this.#check((checks) => checks.effect?.(effect));
  }

  async checkStep(): Promise<void> {
    for (const { name, checks } of this.#checks) {
      for (const { about, description } of (await checks.step?.()) ?? []) {
        this.report(name, about, description);
      }
    }
  }

  async checkEnd(): Promise<void> {
    for (const { name, checks } of this.#checks) {
      for (const { about, description } of (await checks.end?.()) ?? []) {
        this.report(name, about, description);
      }
    }
  }

  /** From now on nothing fails, crashed engines start again, and the carrier answers at once. */
  stopFaults(): void {
    this.faults = noFaults;
    this.faultsStopped = true;
    this.engines.stopFaults();
    this.visitors.disconnectAll();
  }

  /** Whether a fault of the host application happens to this call. */
  occurs(fault: HostFault, call: string): boolean {
    const occurs = this.dice.chance(this.faults[fault]);
    if (occurs) this.coverage.count("host", call, fault);
    return occurs;
  }

  /** Whether a visitor's connection breaks. */
  disconnects(): boolean {
    const breaks = this.dice.chance(this.faults.visitorDisconnects);
    if (breaks) this.coverage.count("operation", "webchat.stream", "visitorDisconnects");
    return breaks;
  }

  /** A running engine. Waits for one if all are down. */
  running(): Promise<UpEngine<undefined>> {
    return this.engines.whenUp();
  }

  /** Ends the process of an engine, which starts again after a while. */
  crash(name: string, why: string): void {
    const forMs = this.faultsStopped ? 100 : this.dice.between(100, 60_000);
    this.#countProcessFault(name, "crash");
    this.engines.crash(name, { why, forMs });
  }

  /** Stops an engine cleanly and starts it again after a while, as a deployment does. */
  async deploy(name: string, deadlineMs = this.dice.between(0, 10_000)): Promise<void> {
    const { dice, clock, engines } = this;
    this.#countProcessFault(name, "deployment");
    try {
      await engines.stop(name, { deadlineMs });
    } catch (error) {
      this.report(laws.cleanStop, [name], String(error));
    }
    await clock.sleep(this.faultsStopped ? 100 : dice.between(100, 60_000));
    engines.restart(name);
  }

  /** Cuts an engine off from the storage, the carrier or the internet for a while. */
  async cutOff(name: string, from: Remote): Promise<void> {
    const { dice, clock, engines } = this;
    this.#countProcessFault(name, cutOffFrom[from]);
    engines.partition(name, from);
    await clock.sleep(dice.between(100, maxDelayMs.outage));
    engines.heal(name);
  }

  /** Sets the clock of the machine by some milliseconds. */
  setClock(ms: number): void {
    this.trace.note([], `the clock is set by ${ms} ms`);
    this.coverage.count("engine", "process", "clockSet");
    this.clock.step(ms);
  }

  #countProcessFault(name: string, fault: ProcessFault): void {
    this.coverage.count("engine", "process", fault);
    this.coverage.onEngineFault(name, fault);
  }

  #engine(ports: EnginePorts<undefined>, run: EngineRun): MessagingEngine<undefined> {
    const { settings, policy, actionBackend } = this;
    const crash = (why: string): void => {
      if (this.engines.runOf(run.name) === run) this.crash(run.name, why);
    };
    const engine = new MessagingEngine(
      {
        storage: ports.storage,
        transports: ports.transports,
        routes: settings.routes,
        http: ports.http,
        mode: "live",
        reopenHours,
        ...settings.slots,
        consent: settings.consent,
        policies: settings.hasPolicy ? [policy.forEngine(run.name)] : [],
        ...(settings.quietHours === undefined ? {} : { quietHours: settings.quietHours }),
        ...(settings.scoresSentiment ? { sentiment: sentimentAnalyzer(this) } : {}),
        agents: {
          ...ports.agents,
          actions: actionBackend.actions(run, crash),
        },
      },
      {
        clock: ports.clock,
        random: ports.random,
        logger: ports.logger,
        language: english(),
        historyChunks,
      },
    );
    this.coverage.register(engine, run);
    if (settings.hasConsumer) this.bookkeeper.consume(engine, run);
    return engine;
  }

  #onCommit(run: EngineRun, writes: readonly Write[]): void {
    this.history.apply(writes);
    this.aimed.onCommit(run, writes);
    this.#check((checks) => checks.commit?.(run.name, writes));
  }

  /**
   * An error in the log is a violation, unless it is a retryable one, such as a storage fault, or
   * reports the policy, which fails at random.
   */
  #onLog({ engine: name, level, facts, message }: LogLine): void {
    if (level === "warn" || message === "a policy failed") return;
    const error = Object.values(facts).find((each) => each instanceof Error);
    if (error instanceof TidingsError && error.retryable) return;
    const text = error === undefined ? message : `${message}: ${error.name}: ${error.message}`;
    this.report(laws.noUnexpectedErrors, [name], `${name} logged an unexpected error: ${text}`);
  }

  #check(run: (checks: Checks) => Iterable<Violation> | undefined): void {
    for (const { name, checks } of this.#checks) {
      for (const { about, description } of run(checks) ?? []) this.report(name, about, description);
    }
  }
}
