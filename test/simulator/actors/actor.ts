import type { World } from "../world.ts";

/** Somebody outside the engines who does something now and then. */
export interface Actor {
  readonly name: string;
  /** How often, compared with the others. */
  readonly weight: number;
  act(world: World): Promise<void>;
}
