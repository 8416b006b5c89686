import type { GenerateId } from "../../kernel/index.ts";
import type { Lookup, StoragePort } from "../../ports/index.ts";
import { BufferedTx } from "../transactions/buffered-tx.ts";
import type { Overlay } from "../transactions/overlay.ts";
import type { RememberedReads } from "../transactions/remembered-reads.ts";
import type { GroupSnapshot } from "../transactions/snapshot.ts";
import type { Projection, Starter } from "../transactions/transaction.ts";
import { BodyWatch } from "./body-watch.ts";
import { forgetBegunWork, type QueuedCommand } from "./command-queue.ts";

export interface BodyRunnerOptions {
  readonly port: Pick<StoragePort, "yieldToEventLoop">;
  readonly drawId: GenerateId;
  /** Draws the version of a new row. */
  readonly firstVersion: () => number;
  readonly projection: Projection | undefined;
  /** Undefined if reads of the storage need no round trip. */
  readonly remembered: RememberedReads | undefined;
  /** Returns the starter that is set now, if any. */
  readonly starter?: () => Starter | undefined;
}

/** What the body of a command returned or threw. */
export type Result =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

/** A run of a command's body: the overlay that it wrote into, and what it read. */
export interface BodyRun {
  readonly command: QueuedCommand;
  readonly result: Result;
  readonly overlay: Overlay;
  readonly lookups: readonly Lookup[];
}

/** Runs the bodies of commands, each in a transaction over the rows of its group. */
export class BodyRunner {
  readonly #options: BodyRunnerOptions;
  readonly #watch: BodyWatch;
  readonly #onReadSettled = (): void => this.#watch.check();

  constructor(options: BodyRunnerOptions) {
    this.#options = options;
    this.#watch = new BodyWatch(() => options.port.yieldToEventLoop());
  }

  /** Never rejects. Undoes the writes of a body that failed. */
  async run(
    command: QueuedCommand,
    now: number,
    snapshot: GroupSnapshot,
    overlay: Overlay,
  ): Promise<BodyRun> {
    const { drawId, firstVersion, projection, remembered } = this.#options;
    // An earlier run may have begun work, too.
    forgetBegunWork([command]);
    const tx = new BufferedTx({
      now,
      drawId,
      snapshot,
      overlay,
      firstVersion,
      planned: projection?.reads,
      remembered,
      onReadSettled: this.#onReadSettled,
    });
    const { lookups } = tx;
    const mark = overlay.mark();
    try {
      const value = await this.#watch.run(tx, async () => {
        const value = await command.work(tx);
        await this.#finish(command, tx);
        return value;
      });
      return { command, result: { ok: true, value }, overlay, lookups };
    } catch (error) {
      overlay.rollBack(mark);
      tx.holdRecent();
      forgetBegunWork([command]);
      return { command, result: { ok: false, error }, overlay, lookups };
    } finally {
      tx.end();
    }
  }

  /** Begins the work that the body asked for. Then projects the new rows of both. */
  async #finish(command: QueuedCommand, tx: BufferedTx): Promise<void> {
    const { projection } = this.#options;
    const starter = this.#options.starter?.();
    if (starter !== undefined) {
      const rows = tx.insertionsInto(starter.of);
      if (rows.length > 0) command.begun = await starter.begin(tx, rows);
    }
    if (projection !== undefined) {
      const rows = tx.insertionsInto(projection.of);
      if (rows.length > 0) await projection.project(tx, rows);
    }
  }
}
