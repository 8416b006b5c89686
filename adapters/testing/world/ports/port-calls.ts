import type { Lookup, Range, Search, Write } from "../../../../src/ports/index.ts";

/** The kinds of calls to ports. `notification` tells an engine that another one has committed. */
export type PortCall =
  | "start"
  | "read"
  | "commit"
  | "notification"
  | "send"
  | "look-up"
  | "receipt"
  | "text"
  | "post"
  | "model";

/** A call to a port, at which a fault may happen. */
export interface Call {
  readonly call: PortCall;
  readonly reads?: readonly (Lookup | Range | Search)[];
  readonly writes?: readonly Write[];
}
