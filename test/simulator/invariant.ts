import type { CarrierCall, WebhookRequest } from "../../adapters/testing/index.ts";
import type { Write } from "../../src/ports/storage.ts";
import type { ActionEffect } from "./action-backend.ts";
import type { World } from "./world.ts";

/** A law that must hold throughout every history. */
export interface Invariant {
  /** The law, as one sentence. */
  readonly name: string;
  check(world: World): Checks;
}

/** The moments at which an invariant is checked. Each check returns the violations it finds. */
export interface Checks {
  /** An engine has just committed. */
  commit?(engine: string, writes: readonly Write[]): Iterable<Violation>;
  /** A call has just reached the carrier, which has not recorded it yet. */
  call?(call: CarrierCall): Iterable<Violation>;
  /** An engine has just made a request to a webhook, which is not recorded yet. */
  webhookRequest?(request: WebhookRequest): Iterable<Violation>;
  /** An action has just taken effect in the host application, which has not recorded it yet. */
  effect?(effect: ActionEffect): Iterable<Violation>;
  /** A step is over. */
  step?(): Promise<Iterable<Violation>>;
  /** The faults have stopped and all work is done. */
  end?(): Promise<Iterable<Violation>>;
}

export interface Violation {
  /** Ids of the messages, conversations and engines whose trace explains the violation. */
  readonly about: readonly string[];
  readonly description: string;
}

export interface Finding extends Violation {
  readonly invariant: string;
  /** The length of the trace when the violation was found. */
  readonly at: number;
}

/** Laws that clients, operators, engine processes or the simulation itself report on. */
export const laws = {
  acknowledgedIsStored: "Whatever was acknowledged can be read back.",
  sameAnswerPerKey:
    "A request under a used idempotency key gets the same answer, and a different one is refused.",
  statusFromEvidence: "A message's status follows its strongest evidence and never goes back.",
  redactedAfterwards: "A message is not redacted while it waits to be sent.",
  streamsComplete: "A stream has every event of the log after the one that it continues, in order.",
  historyEnds: "Every history ends, and without an error of the simulation.",
  allWorkCompletes: "When the faults have stopped, all work completes.",
  noUnexpectedErrors: "Nothing fails or is refused without a reason that the simulation knows.",
  cleanStop: "An engine that has stopped no longer watches the storage.",
} as const;
