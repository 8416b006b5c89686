import type { StreamEvent, StreamPlace, StreamSources } from "../../operations/index.ts";

/** Events that can be sent now. */
export interface StreamBatch<Item> {
  readonly events: readonly StreamEvent<Item>[];
  /** Whether more events may follow at once. */
  readonly more: boolean;
}

interface Following<Item> extends Pick<
  StreamSources,
  "now" | "over" | "mayContinue" | "yieldToEventLoop"
> {
  readonly place: StreamPlace;
  /** Reads the next batch; `undefined` when the stream has ended. */
  readonly next: () => Promise<StreamBatch<Item> | undefined>;
  /** Called when the stream has ended. */
  readonly close?: () => void;
  /** The latest end of the stream, in milliseconds since the epoch. */
  readonly endsAt?: number;
}

/**
 * The keep-alive interval. Keep-alives stop proxies from closing a quiet stream, and detect clients
 * that have disconnected.
 */
const quietMs = 15_000;

const nothing = { events: [], more: false } as const;

/**
 * Yields events as they are committed, until `over` aborts. A slow reader slows down the reads:
 * nothing is buffered except the current batch.
 */
export async function* follow<Item>({
  place: { flag, isOver, leave },
  now,
  over,
  mayContinue,
  yieldToEventLoop,
  next,
  close,
  endsAt = Infinity,
}: Following<Item>): AsyncGenerator<StreamEvent<Item>> {
  let quietSince = now();
  /** Whether there may be something to read, though nothing has woken the stream. */
  let hasMore = true;
  try {
    while (!over.aborted && now() < endsAt) {
      // Lowered before the reads, so that a commit during the reads raises it again. A commit may
      // also have raised it while the client took a keep-alive. Without either, nothing is read.
      const isWoken = flag.lower();
      if (isOver() || !(await mayContinue())) return;
      const batch: StreamBatch<Item> | undefined = isWoken || hasMore ? await next() : nothing;
      if (batch === undefined) return;
      for (const event of batch.events) {
        const sentAt = now();
        yield event;
        quietSince = now();
        if (over.aborted) return;
        // The client may have taken the event much later.
        if (quietSince !== sentAt && (isOver() || !(await mayContinue()))) return;
      }
      hasMore = batch.more;
      if (hasMore) {
        // Reads that skip many events may never wait, so let the event loop run other work.
        await yieldToEventLoop();
      } else {
        // Notifications without events for this stream do not delay the keep-alive. The limits
        // protect against a clock that was set back.
        const quiet = Math.max(0, now() - quietSince);
        await flag.wait(Math.max(0, Math.min(quietMs - quiet, endsAt - now())));
      }
      if (over.aborted || Math.abs(now() - quietSince) < quietMs) continue;
      yield { comment: "" };
      quietSince = now();
    }
  } catch (error) {
    // When the engine stops, it closes the storage while streams still read.
    if (await mayContinue()) throw error;
  } finally {
    close?.();
    leave();
  }
}
