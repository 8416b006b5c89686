import type { Write } from "../../src/ports/storage.ts";
import type { CarrierCall } from "./carrier.ts";
import type { Post } from "./receivers.ts";
import type { Effect } from "./works.ts";
import type { World } from "./world.ts";

/** Where an invariant does not hold. */
export interface Breach {
  /** Ids of messages, conversations and engines whose story is to be told. */
  readonly about: readonly string[];
  readonly says: string;
}

export interface Finding extends Breach {
  readonly invariant: string;
  /** How much of the trace there was when it was found. */
  readonly at: number;
}

/** What an invariant looks at, and when. */
export interface Watch {
  /** What an engine just committed. */
  commit?(engine: string, writes: readonly Write[]): Iterable<Breach>;
  /** A call that just reached the carrier; the ledger does not have it yet. */
  call?(call: CarrierCall): Iterable<Breach>;
  /** A request that just reached a receiver; the ledger does not have it yet. */
  post?(post: Post): Iterable<Breach>;
  /** What an action just did in the host's world; the ledger does not have it yet. */
  effect?(effect: Effect): Iterable<Breach>;
  /** After each step. */
  step?(): Promise<Iterable<Breach>>;
  /** When everything has come to rest. */
  end?(): Promise<Iterable<Breach>>;
}

export interface Invariant {
  readonly name: string;
  watch(world: World): Watch;
}
