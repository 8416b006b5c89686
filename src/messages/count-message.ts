import { countChange, usage, type CountedChange } from "../accounts/index.ts";
import { utcDay } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";
import type { MessageRow } from "./rows.ts";
import { endEventOf } from "./rules.ts";

/**
 * Counts the message in the usage of today, under its status, and what happened in this hour.
 * `before` is the message before the change. Null means that the message is new.
 */
export function countMessage(tx: Tx, message: MessageRow, before: MessageRow | null): void {
  const { channel, status, segments } = message;
  const day = utcDay(tx.now);
  tx.add(usage, { day, channel, status, messages: 1, segments: segments ?? 0 });
  const change = countedChange(message, before, tx.now);
  if (change !== undefined) countChange(tx, channel, change);
}

function countedChange(
  { direction, status, created_at, send_at, delivered_at, from, error }: MessageRow,
  before: MessageRow | null,
  now: number,
): CountedChange | undefined {
  if (before === null) return direction === "inbound" ? received : accepted;
  switch (endEventOf(before.status, status, before.ended_as)) {
    case "message.sent": {
      const since = Math.max(created_at, send_at ?? 0);
      return { what: "delivered", afterMs: (delivered_at ?? now) - since };
    }
    case "message.failed":
      return { what: "failed", sender: from, code: error?.code ?? "unknown" };
    case undefined:
      return undefined;
  }
}

const accepted: CountedChange = { what: "accepted" };
const received: CountedChange = { what: "received" };
