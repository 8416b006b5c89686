/** Engines, a host table and a consumer that writes to it. */
import type { MessagingEngine } from "../../../src/engine.ts";
import type { Consumer } from "../../../src/events/consumers/consumers.ts";
import { world, type World } from "../../support/engines/world.ts";
import { eventually, type Place, type PlaceCase } from "./storages-with-table.ts";

export const anna = "+15005551001";
export const bert = "+15005551002";

export interface Bench extends World {
  readonly place: Place;
  readonly one: MessagingEngine;
  /** Receives messages in sequence. Each causes an event of the sender's conversation. */
  receive(from: string, ...bodies: string[]): Promise<void>;
  /** Waits until the host table has these notes, in any order. */
  noted(...texts: string[]): Promise<void>;
  /** A consumer that notes each message's text, and throws where `fails` says so. */
  noting(
    engine: MessagingEngine,
    fails?: (body: string) => boolean,
    from?: "now" | "beginning",
  ): Consumer;
}

export async function opened({ isExact, open }: PlaceCase): Promise<Bench> {
  const place = await open();
  const { clock, engine, started, log } = world();
  const one = engine(place.connect());
  return {
    place,
    clock,
    engine,
    started,
    log,
    one,
    async receive(from, ...bodies) {
      for (const body of bodies) await one.sandbox.inbound({ from, body });
    },
    noted: (...texts) =>
      eventually(
        clock,
        async () => (await place.notes()).toSorted().join() === texts.toSorted().join(),
      ),
    noting: (engine, fails = () => false, from = "beginning") =>
      engine.consume(
        "notes",
        ["message.received"],
        async ({ data: { body } }, { tx }) => {
          const isBad = fails(body);
          // Without a transaction, a write before the failure would remain.
          if (isExact || !isBad) await place.note(tx, body);
          if (isBad) throw new RangeError(`not ${body}`);
        },
        { from },
      ),
  };
}
