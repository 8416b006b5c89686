/** Bounds that a host can move. Each has a default in `defaultLimits`. */
export interface Limits {
  /** Bytes of a request body. */
  readonly body_bytes: number;
  /** Bytes of a batch's or an import's body. */
  readonly batch_body_bytes: number;
  /** Characters of a message's text. */
  readonly message_characters: number;
  readonly media_items: number;
  readonly batch_items: number;
  /** Lines of an import that comes as lines. */
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

/** 35 days, in milliseconds: how far ahead a message may be scheduled. */
export const maxScheduleAhead: number = 35 * 86_400_000;
