import type { MessageRow } from "./rows.ts";
import { usage } from "../accounts/index.ts";
import { iso } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";

/** Counts that a message entered its status today. */
export function countMessage(tx: Tx, { channel, status, segments }: MessageRow): void {
  const day = iso(tx.now).slice(0, 10);
  tx.add(usage, { day, channel, status, messages: 1, segments: segments ?? 0 });
}
