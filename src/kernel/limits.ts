import { z } from "zod";
import { dayMs } from "./time.ts";

/**
 * Limits of what the engine accepts, as the option `limits` sets them. Each is a whole number above
 * 0. The defaults are in `defaultLimits`.
 */
export interface Limits {
  /** Maximum bytes of a request body, and of one line of an import. Default: 1,048,576. */
  readonly body_bytes: number;
  /** Maximum bytes of the body of a batch or of a JSON import. Default: 8,388,608. */
  readonly batch_body_bytes: number;
  /** Maximum characters of a message's body. Default: 1,600. */
  readonly message_characters: number;
  /** Maximum number of files of a message. Default: 10. */
  readonly media_items: number;
  /** Maximum number of items of a batch or of a JSON import. Default: 1,000. */
  readonly batch_items: number;
  /** Maximum rows of an import over HTTP in NDJSON, one row per line. Default: 100,000. */
  readonly import_rows: number;
  /** Maximum number of keys of `metadata` or `attributes`. Default: 50. */
  readonly metadata_keys: number;
  /** Maximum characters of a value in `metadata` or `attributes`. Default: 500. */
  readonly metadata_characters: number;
  /** Maximum levels of objects and arrays in a JSON body. Default: 32. */
  readonly json_depth: number;
}

export const limitsSchema = z
  .strictObject({
    body_bytes: z
      .int()
      .describe(
        "Maximum bytes of a request body, and of one line of an import. Default: 1,048,576.",
      ),
    batch_body_bytes: z
      .int()
      .describe("Maximum bytes of the body of a batch or of a JSON import. Default: 8,388,608."),
    message_characters: z.int().describe("Maximum characters of a message's body. Default: 1,600."),
    media_items: z.int().describe("Maximum number of files of a message. Default: 10."),
    batch_items: z
      .int()
      .describe("Maximum number of items of a batch or of a JSON import. Default: 1,000."),
    import_rows: z
      .int()
      .describe(
        "Maximum rows of an import over HTTP in NDJSON, one row per line. Default: 100,000.",
      ),
    metadata_keys: z
      .int()
      .describe("Maximum number of keys of `metadata` or `attributes`. Default: 50."),
    metadata_characters: z
      .int()
      .describe("Maximum characters of a value in `metadata` or `attributes`. Default: 500."),
    json_depth: z
      .int()
      .describe("Maximum levels of objects and arrays in a JSON body. Default: 32."),
  })
  .meta({
    id: "AccountLimits",
    description:
      "Limits of what the engine accepts, as the option `limits` sets them. Each is a whole " +
      "number above 0. The defaults are in `defaultLimits`.",
  });

/** The limits that apply where the option `limits` sets none. */
export const defaultLimits: Limits = {
  body_bytes: 1_048_576,
  batch_body_bytes: 8_388_608,
  message_characters: 1_600,
  media_items: 10,
  batch_items: 1_000,
  import_rows: 100_000,
  metadata_keys: 50,
  metadata_characters: 500,
  json_depth: 32,
};

/** How far ahead a message may be scheduled: 35 days, in milliseconds. */
export const maxScheduleAhead: number = 35 * dayMs;
