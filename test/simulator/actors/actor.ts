import type { Part } from "../shapes.ts";
import type { World } from "../world.ts";

/** Somebody outside the engines who does something now and then. */
export interface Actor {
  readonly name: string;
  readonly part: Part;
  /** How often, compared with the others, in a history of no particular shape. */
  readonly weight: number;
  act(world: World): Promise<void>;
}
