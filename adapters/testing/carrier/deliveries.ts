import type { Clock, TransportSink } from "../../../src/ports/index.ts";
import { Dice } from "../simulated/dice.ts";
import type { RunContext } from "../world/run-context.ts";

/** How long the carrier waits for an engine to accept a receipt or an inbound message. */
const acceptsWithinMs = 30_000;
/** The pause before the carrier tries again, after an engine has not accepted. */
const pauseMs = { min: 500, max: 5_000 };
/** The pause before the carrier tries again while all running engines are cut off from it. */
const cutOffPauseMs = 500;

/** One engine's connection to the carrier. */
export interface CarrierConnection {
  readonly transport: string;
  /** Undefined outside of a world. */
  readonly context: RunContext | undefined;
  /** Undefined until the engine has started, and after it has stopped. */
  sink: TransportSink | undefined;
}

/** A receipt or an inbound message on its way to an engine. */
export interface Delivery {
  /** What it is, for the story. */
  readonly what: string;
  /** The ids that it concerns, for the story. */
  readonly about: readonly string[];
  /** The transport that it arrives at. */
  readonly transport: string;
  readonly delayMs: number;
  readonly deliver: (sink: TransportSink) => Promise<void>;
}

/** Delivers receipts and inbound messages. Tries each again until an engine accepts it. */
export class Deliveries {
  readonly connections = new Set<CarrierConnection>();
  readonly #note: (about: readonly string[], text: string) => void;
  #dice = new Dice(1);
  #clock: Clock | undefined;
  /** Resolves when the first engine starts, and brings the clock. */
  readonly #started = Promise.withResolvers<Clock>();
  /** Called when an engine connects. */
  readonly #onConnect: (() => void)[] = [];
  #undelivered = 0;

  constructor(note: (about: readonly string[], text: string) => void) {
    this.#note = note;
  }

  get undelivered(): number {
    return this.#undelivered;
  }

  /** 0 before the first engine has started. */
  now(): number {
    return this.#clock?.now() ?? 0;
  }

  use(clock: Clock, dice = this.#dice): void {
    this.#dice = dice;
    this.#clock ??= clock;
    this.#started.resolve(this.#clock);
  }

  connect(connection: CarrierConnection): void {
    this.connections.add(connection);
    for (const resolve of this.#onConnect.splice(0)) resolve();
  }

  add(delivery: Delivery): void {
    this.#undelivered++;
    void this.#untilAccepted(delivery).then(() => this.#undelivered--);
  }

  /** Tries one engine after another until one accepts. While no engine runs, it waits for one. */
  async #untilAccepted({ what, about, transport, delayMs, deliver }: Delivery): Promise<void> {
    await this.#sleep(delayMs);
    for (;;) {
      const connection = this.#anyConnection(transport);
      if (connection?.sink === undefined) {
        await this.#changeOfConnections(transport);
        continue;
      }
      const isAccepted = await this.#isAccepted(connection, deliver(connection.sink));
      const engine = connection.context?.run.name ?? "the engine";
      const result = isAccepted ? "accepted" : "no answer";
      this.#note([...about, engine], `${what} delivered to ${engine}: ${result}`);
      if (isAccepted) return;
      await this.#sleep(this.#dice.between(pauseMs.min, pauseMs.max));
    }
  }

  #anyConnection(transport: string): CarrierConnection | undefined {
    const up = this.#running(transport).filter(
      ({ context }) => context?.isCutOff("carrier") !== true,
    );
    return up.length > 1 ? this.#dice.pick(up) : up[0];
  }

  /** The connections of the engines that run, also of those that are cut off. */
  #running(transport: string): CarrierConnection[] {
    return [...this.connections].filter(
      ({ sink, context, transport: name }) =>
        name === transport && sink !== undefined && context?.run.isAlive !== false,
    );
  }

  /** Waits until an engine may be reachable. While none runs, nothing is due on the clock. */
  async #changeOfConnections(transport: string): Promise<void> {
    if (this.#running(transport).length > 0) return this.#sleep(cutOffPauseMs);
    await new Promise<void>((resolve) => void this.#onConnect.push(resolve));
  }

  async #isAccepted({ context }: CarrierConnection, delivered: Promise<void>): Promise<boolean> {
    const timer = new AbortController();
    const ended = context === undefined ? [] : [context.run.ended.then(() => false)];
    const answered = delivered.then(
      () => true,
      () => false,
    );
    const late = this.#sleep(acceptsWithinMs, timer.signal).then(() => false);
    const isAccepted = await Promise.race([answered, late, ...ended]);
    timer.abort("answered");
    return isAccepted;
  }

  async #sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const clock = this.#clock ?? (await this.#started.promise);
    await clock.sleep(ms, signal, { ref: false });
  }
}
