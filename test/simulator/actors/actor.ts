import type { ActorGroup } from "../workloads.ts";
import type { World } from "../world.ts";

/** Somebody or something outside the engines that acts now and then. */
export interface Actor {
  /** What it does, as one sentence. */
  readonly does: string;
  readonly group: ActorGroup;
  /** How often it acts compared with the others, before the workload's weights. */
  readonly weight: number;
  act(world: World): Promise<void>;
}
