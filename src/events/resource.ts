import { iso } from "../kernel/index.ts";
import type { EventRow } from "./rows.ts";
import type { AnyEvent } from "./types.ts";

/** An event as it is told everywhere. A row's data is that of its type: only `appendEvent` writes events. */
export function eventResource({
  id,
  type,
  created_at,
  data,
}: Pick<EventRow, "id" | "type" | "created_at" | "data">): AnyEvent {
  return { id, type, created_at: iso(created_at), data };
}
