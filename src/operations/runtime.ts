import type { Carriers } from "../messages/carriers.ts";
import type { LocalConsumer } from "../events/consumer-types.ts";
import type { Lane } from "../queue/lane.ts";
import type { HostPolicies } from "./host-policies.ts";
import type { DrawId } from "../kernel/ids.ts";
import type { Services } from "./operation.ts";
import type { Settings } from "../options.ts";
import type { Store } from "../store/store.ts";

/** What an opened engine runs with: its settings, and what was made from them. */
export interface Runtime extends Settings {
  readonly store: Store;
  readonly drawId: DrawId;
  /** What decisions depend on. */
  readonly services: Services;
  /** Evaluates the host application's policies. */
  readonly hostPolicies: HostPolicies;
  /** What the transports of this engine can do, by name. */
  readonly carriers: Carriers;
  readonly consumers: LocalConsumers;
}

/** The consumers that are set up in this engine. */
export interface LocalConsumers {
  get(name: string): LocalConsumer | undefined;
  /** Whether this engine runs the jobs of a lane: false only for consumers that are not set up here, or were stopped. */
  serves(lane: Lane): boolean;
}
