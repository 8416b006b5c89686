import { hasMethods, type Channel, type Mode } from "../kernel/index.ts";
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

/** Whether a transport of this engine carries messages of a mode on a channel. */
export function carries(
  factsByTransport: FactsByTransport,
  transport: string,
  mode: Mode,
  channel: Channel,
): boolean {
  const facts = factsByTransport.get(transport);
  return facts !== undefined && facts.modes.includes(mode) && facts.channels.includes(channel);
}
