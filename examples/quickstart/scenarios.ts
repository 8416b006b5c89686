/**
 * The sandbox numbers that the quickstart sends to, and the expected results.
 * `GET /v1/sandbox/numbers` lists all twenty numbers.
 */
import type { MessageStatus } from "tidings";

export interface Scenario {
  readonly to: string;
  /** What the sandbox simulates for this number. */
  readonly label: string;
  readonly expectedStatus: MessageStatus;
  /** How many times the engine calls the carrier. */
  readonly expectedAttempts: number;
  /** What the contact answers, if it does. */
  readonly expectedReply?: string;
}

const delivered = { expectedStatus: "delivered", expectedAttempts: 1 } as const;

export const scenarios: readonly Scenario[] = [
  { to: "+15005550001", label: "normal delivery", ...delivered },
  {
    to: "+15005550003",
    label: "handset unreachable",
    expectedStatus: "undelivered",
    expectedAttempts: 1,
  },
  { to: "+15005550005", label: "invalid number", expectedStatus: "failed", expectedAttempts: 1 },
  { to: "+15005550007", label: "throttled twice", ...delivered, expectedAttempts: 3 },
  { to: "+15005550010", label: "duplicate receipts", ...delivered },
  { to: "+15005550011", label: "receipts reversed", ...delivered },
  { to: "+15005550012", label: "receipt comes first", ...delivered },
  { to: "+15005550013", label: "response lost, sent", ...delivered },
  { to: "+15005550014", label: "response lost, unsent", ...delivered, expectedAttempts: 2 },
  {
    to: "+15005550015",
    label: "contact replies",
    ...delivered,
    expectedReply: "Thanks, I got it!",
  },
];

/** Takes 36 seconds because of the pauses between attempts, so `--once` leaves it out. */
export const slowScenario: Scenario = {
  to: "+15005550008",
  label: "carrier fails 3 times",
  ...delivered,
  expectedAttempts: 4,
};
