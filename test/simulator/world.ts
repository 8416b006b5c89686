import { memory } from "../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../adapters/entry.ts";
import type { StoragePort, Write } from "../../src/ports/storage.ts";
import type { TransportSink } from "../../src/ports/transport.ts";
import { type VirtualClock, virtualClock } from "../../adapters/testing/index.ts";
import { LateStorage } from "../support/late-storage.ts";
import { ActionBackend, type ActionEffect } from "./action-backend.ts";
import { Carrier, type CarrierCall } from "./carrier.ts";
import { Clients } from "./clients.ts";
import { Dice } from "./dice.ts";
import { EngineProcess } from "./engine-process.ts";
import { drawFaults, type Faults, noFaults } from "./faults.ts";
import { HostPolicy } from "./host-policy.ts";
import type { Checks, Finding, Invariant, Violation } from "./invariant.ts";
import type { Lifetime } from "./lifetime.ts";
import { Operators } from "./operators.ts";
import { UniqueWords } from "./personal-data.ts";
import { PhoneNumbers } from "./phone-numbers.ts";
import { ResourceHistory } from "./resource-history.ts";
import { drawSettings, type Settings } from "./settings.ts";
import { Trace } from "./trace.ts";
import { type WebhookRequest, WebhookReceivers } from "./webhook-receivers.ts";
import { WebchatVisitors } from "./visitors.ts";
import { drawWorkload, type Workload } from "./workloads.ts";

/** Everything in one history: the engines, their shared storage, and all that is outside them. */
export class World {
  readonly seed: number;
  readonly dice: Dice;
  readonly clock: VirtualClock;
  readonly trace: Trace;
  /** The committed state. The simulator reads it directly; no fault applies. */
  readonly database: StoragePort = memory();
  /** The same state as engines reach it, with delays and conflicts. */
  readonly storage: LateStorage;
  /** The most event-loop turns by which a storage call is delayed. */
  readonly maxYields: number;
  readonly engineProcesses: readonly EngineProcess[];
  readonly carrier: Carrier;
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
  /** The engines' clocks are not equal. */
  readonly clocksDiffer: boolean;
  /** The carrier answers look-ups. */
  readonly hasLookup: boolean;
  /** The carrier sends receipts. */
  readonly hasReceipts: boolean;
  /** The share of receipts that name the attempt instead of the carrier's own message id. */
  readonly attemptIdShare: number;
  /** The ids of the locks of engines that are held, as the storage sees it. */
  readonly heldLocks = new Set<string>();
  /** The engine processes that watch the storage. */
  readonly storageWatchers = new Set<Lifetime>();
  faults: Faults;
  faultsStopped = false;
  /** The first violation that was found. */
  finding: Finding | undefined;
  readonly #checks: readonly { readonly name: string; readonly checks: Checks }[];

  constructor(seed: number, invariants: readonly Invariant[]) {
    this.seed = seed;
    this.dice = new Dice(seed);
    this.clock = virtualClock();
    const start = this.clock.now();
    this.trace = new Trace(() => this.clock.now() - start);
    this.faults = drawFaults(this.dice);
    this.workload = drawWorkload(this.dice);
    this.settings = drawSettings(this.dice);
    this.phones = new PhoneNumbers(this.workload.phones);
    this.clocksDiffer = this.faults.skewMs > 0;
    this.storage = new LateStorage(this.database);
    this.maxYields = this.dice.between(0, 3);
    this.hasLookup = this.dice.chance(0.85);
    this.hasReceipts = this.dice.chance(0.9);
    this.attemptIdShare = this.dice.chance(0.5) ? this.dice.number() : 0;
    this.carrier = new Carrier(this);
    this.clients = new Clients(this);
    this.receivers = new WebhookReceivers(this);
    this.operators = new Operators(this);
    this.visitors = new WebchatVisitors(this);
    this.policy = new HostPolicy(this);
    this.engineProcesses = Array.from(
      { length: this.dice.between(2, 3) },
      (_, i) => new EngineProcess(this, i + 1),
    );
    this.#checks = invariants.map(({ name, check }) => ({ name, checks: check(this) }));
  }

  /** Only the first violation counts, since later ones may follow from it. */
  report(invariant: string, about: readonly string[], description: string): void {
    this.finding ??= { invariant, about, description, at: this.trace.entries.length };
  }

  onCommit(lifetime: Lifetime, writes: readonly Write[]): void {
    this.history.apply(writes);
    this.#check((checks) => checks.commit?.(lifetime.name, writes));
  }

  onCarrierCall(call: CarrierCall): void {
    this.#check((checks) => checks.call?.(call));
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
    this.trace.note([], "the faults stop");
    this.visitors.disconnectAll();
  }

  /** A running engine. Waits for one if all are down. */
  async running(): Promise<{
    readonly engineProcess: EngineProcess;
    readonly engine: MessagingEngine;
  }> {
    for (;;) {
      const up = this.engineProcesses.flatMap((engineProcess) =>
        engineProcess.engine === undefined ? [] : [{ engineProcess, engine: engineProcess.engine }],
      );
      const chosen = this.dice.pick(up);
      if (chosen !== undefined) return chosen;
      await this.clock.sleep(500);
    }
  }

  /** Delivers something from the carrier to a running engine, once. */
  async deliverToEngine(
    deliver: (sink: TransportSink) => Promise<void>,
    transport: string,
  ): Promise<{ readonly engine: string; readonly accepted: boolean }> {
    const { engineProcess } = await this.running();
    const { lifetime, name } = engineProcess;
    const sink = engineProcess.sinkOf(transport);
    if (sink === undefined) return { engine: name, accepted: false };
    const timer = new AbortController();
    const delivered = deliver(sink).then(
      () => true,
      () => false,
    );
    const lost = Promise.race([lifetime.ended, this.clock.sleep(30_000, timer.signal)]).then(
      () => false,
    );
    const accepted = await Promise.race([delivered, lost]);
    timer.abort("answered");
    return { engine: name, accepted };
  }

  #check(run: (checks: Checks) => Iterable<Violation> | undefined): void {
    for (const { name, checks } of this.#checks) {
      for (const { about, description } of run(checks) ?? []) this.report(name, about, description);
    }
  }
}
