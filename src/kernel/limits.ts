import { dayMs } from "./time.ts";

/** Limits that the host application can change. The defaults are in `defaultLimits`. */
export interface Limits {
  /** Bytes of a request body. */
  readonly body_bytes: number;
  /** Bytes of the body of a batch or an import. */
  readonly batch_body_bytes: number;
  /** Characters of a message's body. */
  readonly message_characters: number;
  readonly media_items: number;
  readonly batch_items: number;
  /** Rows of an import in NDJSON, one row per line. */
  readonly import_rows: number;
  readonly metadata_keys: number;
  /** Characters of a metadata value. */
  readonly metadata_characters: number;
  /** Levels of objects and arrays in a JSON body. */
  readonly json_depth: number;
}

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
