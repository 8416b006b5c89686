import { z } from "zod";
import { eventResource } from "../domain/events/resource.ts";
import { eventOf, type EventRow, eventsOfAccount } from "../domain/events/rows.ts";
import { type EventType, eventTypeSchema } from "../domain/events/types.ts";
import { reference } from "../fields.ts";
import { invalid } from "../errors.ts";
import type { EventStream, StreamEvent, StreamSources } from "../operation.ts";
import type { KeyValue } from "../ports/collection.ts";
import type { Scope } from "../scope.ts";
import { look } from "../transactions/look.ts";
import type { Reads } from "../transactions/reads.ts";

export const streamEventsSchema = z.strictObject({
  types: z
    .string()
    .max(1_000)
    .transform((list) => list.split(","))
    .pipe(z.array(eventTypeSchema))
    .optional()
    .meta({ description: "Types of events, separated by commas. By default all." }),
  last_event_id: reference.optional().meta({ description: "Goes on after this event. By default only what is new." }),
});
export interface StreamEvents extends z.infer<typeof streamEventsSchema> {}

/** Rows read at once. A reader that is slow is read for slowly: nothing is buffered but one page. */
const pageSize = 100;
/** A sign of life now and then keeps proxies from closing a quiet stream, and finds out who is gone. */
const quietMs = 15_000;

/** An account's events in commit order, after `last_event_id`. Each is sent as it is stored; comments are signs of life. */
export const eventStream: EventStream<StreamEvents> = {
  kind: "stream",
  name: "events.stream",
  input: () => streamEventsSchema,
  async open(sources, { types, last_event_id }, { scope }, signal) {
    const from = await positionOf(sources.reads, scope, last_event_id);
    return follow(sources, scope, types, from, signal);
  },
};

async function positionOf(reads: Reads, scope: Scope, last_event_id: string | undefined): Promise<number> {
  if (last_event_id === undefined) {
    const prefix = [scope.account_id, scope.mode];
    const [last] = await reads.range({ index: eventsOfAccount, prefix, order: "descending", limit: 1 });
    return last?.position ?? 0;
  }
  const last = await eventOf(reads, scope, last_event_id);
  if (last !== undefined) return last.position;
  const message = "This event is not known any more: read what was missed from /v1/events, and begin anew.";
  throw invalid([{ header: "Last-Event-ID", code: "unknown_event", message }]);
}

async function* follow(
  { reads, now, news, goesOn, turn }: StreamSources,
  { account_id, mode }: Scope,
  types: readonly EventType[] | undefined,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const { signal: fresh, leave } = news();
  let after: readonly KeyValue[] = [from];
  let quietSince = now();
  try {
    while (!signal.aborted) {
      // Lowered before the reads: what commits meanwhile raises it again and is not slept through.
      fresh.lower();
      if (!(await goesOn())) return;
      const { rows, more, last } = await look<EventRow>(reads, {
        index: eventsOfAccount,
        prefix: [account_id, mode],
        order: "ascending",
        after,
        ...(types === undefined ? {} : { where: { type: types } }),
        limit: pageSize,
      });
      for (const row of rows) {
        if (signal.aborted) return;
        yield { id: row.id, event: row.type, data: JSON.stringify(eventResource(row)) };
        quietSince = now();
      }
      after = last ?? after;
      if (more) {
        // Much that the stream doesn't tell of is passed over without an await that lets others have their turn.
        await turn();
        continue;
      }
      // News that are none of this stream's don't make it any less quiet. A clock that is set back makes it so no longer.
      const quiet = Math.max(0, now() - quietSince);
      await fresh.wait(Math.max(0, quietMs - quiet));
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
