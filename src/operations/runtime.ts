import type { DrawId } from "../kernel/index.ts";
import type { Clock, Logger, Random, SentimentAnalyzer, Transport } from "../ports/index.ts";
import type { Store } from "../store/index.ts";
import type { HostPolicies } from "./host-policies.ts";
import type { Services } from "./operation.ts";

/**
 * What an opened engine runs with. Every job and every part of the engine takes it as one object. A
 * module that needs more extends it, as `AgentRuntime` does.
 */
export interface Runtime {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly drawId: DrawId;
  readonly transports: readonly Transport[];
  readonly sentiment: SentimentAnalyzer | undefined;
  /** How long events and finished deliveries are kept, in days. */
  readonly eventRetentionDays: number;
  /** What decisions depend on. */
  readonly services: Services;
  /** Evaluates the host application's policies. */
  readonly hostPolicies: HostPolicies;
}
