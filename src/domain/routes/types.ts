import type { Channel } from "../../ports/transport.ts";

/** What routes go by. */
export interface RouteFacts {
  readonly channel: Channel;
  readonly from: string;
  readonly to: string;
}

/** The transports that may carry a message, in order, and after what besides a refusal the next one is tried. */
export interface Way {
  readonly transports: readonly [string, ...string[]];
  readonly fallBackAfter: readonly ("ambiguous" | "undelivered")[];
}

/** An attempt that left nothing, or that nobody counts on any more. */
export interface Tried {
  readonly transport: string;
  /** The message is not tried over this one again. */
  readonly isOut: boolean;
}

/**
 * Where a message goes on: `over` another transport at once; from the beginning `again`, after a pause, with the first that is left, which had
 * it `rounds` times, `isSame` where that is the one that had it last; or nowhere.
 */
export type Next =
  | { readonly next: "over"; readonly transport: string }
  | { readonly next: "again"; readonly transport: string; readonly rounds: number; readonly isSame: boolean }
  | { readonly next: "nowhere" };
