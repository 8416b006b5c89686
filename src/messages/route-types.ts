import type { Channel } from "../kernel/index.ts";

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
  /** When it came out so. */
  readonly at: number;
  /** Its carrier asked not to be called again before this. */
  readonly not_before: number | null;
}

/** Where a message goes on: with a transport, which may be the one that had it last, not before `at`; or nowhere. */
export type Next =
  | { readonly next: "on"; readonly transport: string; readonly at: number }
  | { readonly next: "nowhere" };
