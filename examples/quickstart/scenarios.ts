/** The sandbox numbers that the quickstart writes to, and how each must end. `GET /v1/sandbox/numbers` has all twenty. */
import type { MessageStatus } from "tidings";

export interface Scenario {
  readonly to: string;
  readonly shows: string;
  readonly ends: MessageStatus;
  /** Calls of the carrier. */
  readonly attempts: number;
  readonly reply?: string;
}

export const scenarios: readonly Scenario[] = [
  { to: "+15005550001", shows: "arrives", ends: "delivered", attempts: 1 },
  { to: "+15005550003", shows: "handset is off", ends: "undelivered", attempts: 1 },
  { to: "+15005550005", shows: "no such number", ends: "failed", attempts: 1 },
  { to: "+15005550007", shows: "throttled twice", ends: "delivered", attempts: 3 },
  { to: "+15005550010", shows: "receipts twice", ends: "delivered", attempts: 1 },
  { to: "+15005550011", shows: "receipts in reverse", ends: "delivered", attempts: 1 },
  { to: "+15005550012", shows: "receipt comes first", ends: "delivered", attempts: 1 },
  { to: "+15005550013", shows: "answer lost, sent", ends: "delivered", attempts: 1 },
  { to: "+15005550014", shows: "answer lost, unsent", ends: "delivered", attempts: 2 },
  {
    to: "+15005550015",
    shows: "replies",
    ends: "delivered",
    attempts: 1,
    reply: "Thanks, got it!",
  },
];

/** Takes 36 s, the pauses between tries: shown while serving, and left out of `--once`. */
export const slow: Scenario = {
  to: "+15005550008",
  shows: "carrier down 3 times",
  ends: "delivered",
  attempts: 4,
};
