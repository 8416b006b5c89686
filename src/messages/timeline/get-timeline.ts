import { byIdSchema, ulidOf, type ById } from "../../kernel/index.ts";
import type { Query } from "../../operations/index.ts";
import { readMessage } from "../reads.ts";
import { attemptsOfMessage, timelineById } from "../rows.ts";
import type { MessageError } from "../types.ts";
import { attemptRecords, firstStatus, timelineOf, type TimelineRecord } from "./order-timeline.ts";
import type { Timeline, TimelineEntry } from "./timeline-types.ts";

/** The maximum number of attempts and of other entries that a timeline reads, latest first. */
const maxEntries = 1_000;

/** Returns a message's status changes, attempts, receipts and look-ups. */
export const getTimeline: Query<ById, Timeline> = {
  kind: "query",
  name: "messages.timeline",
  input: () => byIdSchema,
  async run(reads, { id }) {
    const message = await readMessage(reads, id);
    const [attempts, rows] = await Promise.all([
      reads.range({
        index: attemptsOfMessage,
        prefix: [id],
        order: "descending",
        limit: maxEntries,
      }),
      reads.range({
        index: timelineById,
        prefix: [id],
        order: "descending",
        limit: maxEntries,
      }),
    ]);
    const others = rows.map(
      ({ id: entry_id, message_version, at, led_to, entry }): TimelineRecord => ({
        version: message_version,
        ulid: ulidOf(entry_id),
        at,
        led_to,
        entry,
        error: errorOf(entry),
      }),
    );
    const records = [...attempts.flatMap(attemptRecords), ...others];
    const first =
      message.direction === "inbound" ? "received" : firstStatus(records, message.send_at !== null);
    const created: TimelineRecord = {
      version: 0,
      ulid: ulidOf(id),
      at: message.created_at,
      led_to: first,
      error: null,
      entry: null,
    };
    return { data: timelineOf(created, records) };
  },
};

function errorOf(entry: TimelineEntry | null): MessageError | null {
  return entry !== null && "error" in entry ? entry.error : null;
}
