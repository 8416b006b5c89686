import type { DrawId } from "../kernel/index.ts";
import { type MessageRow, timeline } from "./rows.ts";
import type { TimelineEntry } from "./timeline-types.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

/** Keeps what happened to a message. `before` is how it stood; without an entry, the change of status is all there is to tell. */
export function writeTimeline(
  tx: Tx,
  drawId: DrawId,
  before: MessageRow,
  after: Seen<MessageRow>,
  entry: TimelineEntry | null,
): void {
  const led_to = after.status === before.status ? null : after.status;
  tx.insert(timeline, {
    message_id: after.id,
    id: drawId("ent"),
    at: tx.now,
    led_to,
    message_version: after.version,
    entry,
  });
}
