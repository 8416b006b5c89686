import type { Runtime } from "../operations/index.ts";
import type { Transport, TransportCapabilities } from "../ports/index.ts";

/** What decisions need to know of the transports: what each can do, and whether it can look attempts up. */
export type Carriers = ReadonlyMap<string, Carrier>;

export interface Carrier extends TransportCapabilities {
  readonly canLookUp: boolean;
}

export function carriersOf(transports: readonly Transport[]): Carriers {
  return new Map(
    transports.map((each) => [
      each.name,
      { ...each.capabilities, canLookUp: each.lookup !== undefined },
    ]),
  );
}

/** What jobs that call carriers run with. */
export interface CarrierRuntime extends Runtime {
  readonly carriers: Carriers;
}
