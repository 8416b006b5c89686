import type { JobOrder, Lane } from "../../queue/index.ts";
import type { ConsumerKey } from "./types.ts";

/** The job that calls the handler with the events of one key, in order. */
export function consumeJob({ consumer, key }: ConsumerKey, due_at: number): JobOrder<"consume"> {
  return {
    kind: "consume",
    key: { consumer, key },
    account_id: null,
    mode: null,
    lane: consumerLane(consumer),
    due_at,
  };
}

export function consumerLane(consumer: string): Lane<"consume"> {
  return { kind: "consume", slow: false, consumer };
}

/**
 * The wait after each failure, in milliseconds. One more failure parks the event, about an hour and
 * three quarters after the first.
 */
const delays = [1_000, 5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000] as const;

/** Returns the wait after a number of failures, or undefined when the event must be parked. */
export function retryDelay(failures: number): number | undefined {
  return delays[failures - 1];
}
