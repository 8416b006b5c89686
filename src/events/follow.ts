import type { News, StreamEvent, StreamSources } from "../operations/index.ts";

/** What there is to tell now. */
export interface Told {
  readonly events: readonly StreamEvent[];
  /** There is more behind it. */
  readonly more: boolean;
}

export interface Following extends Pick<StreamSources, "now" | "goesOn" | "turn"> {
  readonly news: News;
  /** What is to be told next; `undefined` when the stream is over. */
  readonly next: () => Promise<Told | undefined>;
  /** When it is over at the latest, in milliseconds. */
  readonly endsAt?: number;
}

/** A sign of life now and then keeps proxies from closing a quiet stream, and finds out who is gone. */
const quietMs = 15_000;

/**
 * Tells what comes, as it comes, until `signal` aborts. A reader that is slow is read for slowly: nothing is buffered but what `next` gave.
 */
export async function* follow(
  { news: { signal: fresh, isOver, leave }, now, goesOn, turn, next, endsAt = Infinity }: Following,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  let quietSince = now();
  try {
    while (!signal.aborted) {
      // Lowered before the reads: what commits meanwhile raises it again and is not slept through.
      fresh.lower();
      const told = !isOver() && (await goesOn()) ? await next() : undefined;
      if (told === undefined) return;
      for (const event of told.events) {
        if (signal.aborted) return;
        yield event;
        quietSince = now();
      }
      if (told.more) {
        // Much that the stream doesn't tell of is passed over without an await that lets others have their turn.
        await turn();
        continue;
      }
      // News that are none of this stream's don't make it any less quiet. A clock that is set back makes it so no longer.
      const quiet = Math.max(0, now() - quietSince);
      await fresh.wait(Math.max(0, Math.min(quietMs - quiet, endsAt - now())));
      if (signal.aborted || Math.abs(now() - quietSince) < quietMs) continue;
      yield { comment: "" };
      quietSince = now();
    }
  } catch (error) {
    // An engine that stops closes the storage under those that read.
    if (await goesOn()) throw error;
  } finally {
    leave();
  }
}
