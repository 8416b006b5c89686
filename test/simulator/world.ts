import { memory } from "../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../adapters/entry.ts";
import type { StoragePort, Write } from "../../src/ports/storage.ts";
import type { TransportSink } from "../../src/ports/transport.ts";
import { type VirtualClock, virtualClock } from "../../src/testing/index.ts";
import { LateStorage } from "../support/late-storage.ts";
import { Carrier, type CarrierCall } from "./carrier.ts";
import { Clients } from "./clients.ts";
import { Desk } from "./desk.ts";
import { Dice } from "./dice.ts";
import { drawFaults, type Faults, noFaults } from "./faults.ts";
import { Host } from "./host.ts";
import type { Finding, Invariant, Watch } from "./invariant.ts";
import type { Life } from "./life.ts";
import { People } from "./people.ts";
import { type Post, Receivers } from "./receivers.ts";
import { Registry } from "./registry.ts";
import { Rule } from "./rule.ts";
import { drawShape, type Shape } from "./shapes.ts";
import { drawTerms, type Terms } from "./terms.ts";
import { Trace } from "./trace.ts";
import { Visitors } from "./visitors.ts";
import { Words } from "./words.ts";
import { type Effect, Works } from "./works.ts";

/** Everything that one seed brings about: engines, the storage that they share, the carrier and the clients outside. */
export class World {
  readonly seed: number;
  readonly dice: Dice;
  readonly clock: VirtualClock;
  readonly trace: Trace;
  /** What is committed, whatever the engines were told of it. */
  readonly ground: StoragePort = memory();
  /** The same, as engines reach it. */
  readonly storage: LateStorage;
  /** How many turns of the event loop anything takes on its way, at most. */
  readonly latestTurn: number;
  readonly hosts: readonly Host[];
  readonly carrier: Carrier;
  readonly clients: Clients;
  readonly receivers: Receivers;
  readonly works = new Works(this);
  readonly shape: Shape;
  readonly terms: Terms;
  readonly people: People;
  readonly words = new Words();
  readonly registry = new Registry();
  readonly desk: Desk;
  readonly visitors: Visitors;
  readonly rule: Rule;
  /** The engines' clocks differ. */
  readonly isSkewed: boolean;
  readonly canLookUp: boolean;
  readonly hasReceipts: boolean;
  /** How often the carrier names the attempt in its receipts rather than its own id. */
  readonly echoes: number;
  /** Lives that listen to the storage. */
  readonly watchers = new Set<Life>();
  faults: Faults;
  healing = false;
  finding: Finding | undefined;
  readonly #watches: readonly { readonly name: string; readonly watch: Watch }[];

  constructor(seed: number, invariants: readonly Invariant[]) {
    this.seed = seed;
    this.dice = new Dice(seed);
    this.clock = virtualClock();
    const start = this.clock.now();
    this.trace = new Trace(() => this.clock.now() - start);
    this.faults = drawFaults(this.dice);
    this.shape = drawShape(this.dice);
    this.terms = drawTerms(this.dice);
    this.people = new People(this.shape.people);
    this.isSkewed = this.faults.skewMs > 0;
    this.storage = new LateStorage(this.ground);
    this.latestTurn = this.dice.between(0, 3);
    this.canLookUp = this.dice.chance(0.85);
    this.hasReceipts = this.dice.chance(0.9);
    this.echoes = this.dice.chance(0.5) ? this.dice.number() : 0;
    this.carrier = new Carrier(this);
    this.clients = new Clients(this);
    this.receivers = new Receivers(this);
    this.desk = new Desk(this);
    this.visitors = new Visitors(this);
    this.rule = new Rule(this);
    this.hosts = Array.from({ length: this.dice.between(2, 3) }, (_, i) => new Host(this, i + 1));
    this.#watches = invariants.map(({ name, watch }) => ({ name, watch: watch(this) }));
  }

  /** The first that is found broken is told; what follows from it is not. */
  accuse(invariant: string, about: readonly string[], says: string): void {
    this.finding ??= { invariant, about, says, at: this.trace.entries.length };
  }

  committed(life: Life, writes: readonly Write[]): void {
    this.registry.heed(writes);
    this.#each((watch) => watch.commit?.(life.name, writes));
  }

  called(call: CarrierCall): void {
    this.#each((watch) => watch.call?.(call));
  }

  posted(post: Post): void {
    this.#each((watch) => watch.post?.(post));
  }

  effected(effect: Effect): void {
    this.#each((watch) => watch.effect?.(effect));
  }

  async stepped(): Promise<void> {
    for (const { name, watch } of this.#watches) {
      for (const { about, says } of (await watch.step?.()) ?? []) this.accuse(name, about, says);
    }
  }

  async ended(): Promise<void> {
    for (const { name, watch } of this.#watches) {
      for (const { about, says } of (await watch.end?.()) ?? []) this.accuse(name, about, says);
    }
  }

  /** No more faults: whoever is down comes up, the carrier is honest and quick. */
  heal(): void {
    this.faults = noFaults;
    this.healing = true;
    this.trace.note([], "the faults stop");
    this.visitors.cut();
  }

  /** An engine that takes calls. */
  async running(): Promise<{ readonly host: Host; readonly engine: MessagingEngine }> {
    for (;;) {
      const up = this.hosts.flatMap((host) =>
        host.engine === undefined ? [] : [{ host, engine: host.engine }],
      );
      const chosen = this.dice.pick(up);
      if (chosen !== undefined) return chosen;
      await this.clock.sleep(500);
    }
  }

  /** The carrier brings something to one of the engines, over one of its lines. */
  async bring(
    bring: (sink: TransportSink) => Promise<void>,
    transport: string,
  ): Promise<{ readonly engine: string; readonly taken: boolean }> {
    const { host } = await this.running();
    const { life, name } = host;
    const sink = host.sinkOf(transport);
    if (sink === undefined) return { engine: name, taken: false };
    const hangUp = new AbortController();
    const taken = bring(sink).then(
      () => true,
      () => false,
    );
    const lost = Promise.race([life.died, this.clock.sleep(30_000, hangUp.signal)]).then(
      () => false,
    );
    const heard = await Promise.race([taken, lost]);
    hangUp.abort("heard");
    return { engine: name, taken: heard };
  }

  #each(look: (watch: Watch) => Iterable<Omit<Finding, "invariant" | "at">> | undefined): void {
    for (const { name, watch } of this.#watches) {
      for (const { about, says } of look(watch) ?? []) this.accuse(name, about, says);
    }
  }
}
