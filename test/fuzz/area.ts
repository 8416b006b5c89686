import type fc from "fast-check";

/** The areas, in the order in which they are tried. */
export const areaNames = ["http", "callbacks", "webhooks", "models", "streams"] as const;

/** One kind of input from outside. */
export interface Area<Case = unknown> {
  readonly name: (typeof areaNames)[number];
  /** How many times as many cases it tries as an area of share 1. */
  readonly share: number;
  readonly cases: fc.Arbitrary<Case>;
  /**
   * Tries one case in its own world. Calls `sent` with the bytes that it sends.
   * @throws Error if the engine breaks a promise
   */
  run(given: Case, sent: (bytes: Uint8Array | string) => void): Promise<void>;
}

/** An area whose cases nobody else looks into. */
export function area<Case>(given: Area<Case>): Area {
  return given;
}
