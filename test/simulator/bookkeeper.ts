import type { MessagingEngine } from "../../adapters/entry.ts";
import type { EngineRun } from "../../adapters/testing/index.ts";
import type { EventType } from "../../src/events/types.ts";
import { maxDelayMs } from "./faults.ts";
import type { World } from "./world.ts";

export const consumedTypes: readonly EventType[] = ["message.received", "message.sent"];

/** An event that the handler has processed. Engines cannot change it. */
export interface Booking {
  readonly event_id: string;
  readonly run: EngineRun;
}

/** A durable consumer of the host application. Its handler fails and is slow now and then. */
export class Bookkeeper {
  /** In the order in which the handler ended. */
  readonly bookings: Booking[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  consume(engine: MessagingEngine, run: EngineRun): void {
    const world = this.#world;
    engine.consume(
      "bookkeeper",
      consumedTypes,
      async ({ id }) => {
        const { clock, dice } = world;
        if (world.occurs("consumerSlow", "consumer")) {
          await clock.sleep(dice.between(1, maxDelayMs.consumer));
        }
        if (world.occurs("consumerFails", "consumer")) throw new Error("the books are locked");
        if (!run.isAlive) return;
        world.trace.note([run.name, id], `${run.name} books ${id}`);
        this.bookings.push({ event_id: id, run });
      },
      { from: "beginning" },
    );
  }
}
