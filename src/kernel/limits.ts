import { dayMs } from "./time.ts";

/**
 * Limits of what the engine accepts, as the option `limits` sets them. Each is a whole number above
 * 0. The defaults are in `defaultLimits`.
 */
export interface Limits {
  /** Maximum bytes of a request body, and of one line of an import. Default: 1,048,576. */
  readonly bodyBytes: number;
  /** Maximum bytes of the body of a batch or of a JSON import. Default: 8,388,608. */
  readonly batchBodyBytes: number;
  /** Maximum characters of a message's body. Default: 1,600. */
  readonly messageCharacters: number;
  /** Maximum number of files of a message. Default: 10. */
  readonly mediaItems: number;
  /** Maximum number of items of a batch or of a JSON import. Default: 1,000. */
  readonly batchItems: number;
  /** Maximum rows of an import over HTTP in NDJSON, one row per line. Default: 100,000. */
  readonly importRows: number;
  /** Maximum number of keys of `metadata` or `attributes`. Default: 50. */
  readonly metadataKeys: number;
  /** Maximum characters of a value in `metadata` or `attributes`. Default: 500. */
  readonly metadataCharacters: number;
  /** Maximum levels of objects and arrays in a JSON body. Default: 32. */
  readonly jsonDepth: number;
}

/** The limits that apply where the option `limits` sets none. */
export const defaultLimits: Limits = {
  bodyBytes: 1_048_576,
  batchBodyBytes: 8_388_608,
  messageCharacters: 1_600,
  mediaItems: 10,
  batchItems: 1_000,
  importRows: 100_000,
  metadataKeys: 50,
  metadataCharacters: 500,
  jsonDepth: 32,
};

/** How far ahead a message may be scheduled: 35 days, in milliseconds. */
export const maxScheduleAheadMs: number = 35 * dayMs;
