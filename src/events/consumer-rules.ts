import type { JobOrder, Lane } from "../queue/index.ts";
import type { ConsumerKey } from "./consumer-types.ts";

/** After each failure, in milliseconds; after one more the event is parked, about an hour and three quarters after it came. */
const delays = [1_000, 5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000] as const;

/** How long to wait after so many failures; `undefined`: no longer, it is parked. */
export function retryDelay(failures: number): number | undefined {
  return delays[failures - 1];
}

const namePattern = /^[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?$/i;

/** 1 to 100 letters, digits, dots, dashes and underscores, the first and the last a letter or digit. */
export function isConsumerName(name: string): boolean {
  return namePattern.test(name);
}

/** The job that calls the consumer's handler with a key's events, in order. */
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
