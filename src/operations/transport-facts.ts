import { hasMethods } from "../kernel/index.ts";
import type { Transport, TransportCapabilities } from "../ports/index.ts";

/** The facts of each transport of this engine, by the transport's name. */
export type FactsByTransport = ReadonlyMap<string, TransportFacts>;

interface TransportFacts extends TransportCapabilities {
  /** Whether the transport can look up attempts. */
  readonly canLookUp: boolean;
}

export function readTransportFacts(transports: readonly Transport[]): FactsByTransport {
  return new Map(
    transports.map((each) => [
      each.name,
      { ...each.capabilities, canLookUp: hasMethods(each, "lookup") },
    ]),
  );
}
