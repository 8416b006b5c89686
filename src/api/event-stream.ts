import type { StreamEvent } from "../operations/index.ts";

export const eventStreamHeaders = {
  "Content-Type": "text/event-stream",
  // A proxy that buffers would hold events back until it has enough of them.
  "X-Accel-Buffering": "no",
} as const;

const lineBreak = /\r\n|\r|\n/;

const lines = (field: string, value: string): string =>
  value
    .split(lineBreak)
    .map((line) => `${field}: ${line}\n`)
    .join("");

/** A line break in an id or a name would begin a field of its own, and a NUL makes browsers ignore the id. */
const oneLine = (field: string, value: string): string =>
  `${field}: ${value.replace(/[\r\n\0]/g, "")}\n`;

export function encodeEvent({ id, event, data, retry, comment }: StreamEvent): string {
  let text = "";
  if (comment !== undefined) text += lines("", comment);
  if (retry !== undefined) text += oneLine("retry", String(Math.round(retry)));
  if (event !== undefined) text += oneLine("event", event);
  if (id !== undefined) text += oneLine("id", id);
  if (data !== undefined) text += lines("data", data);
  return `${text}\n`;
}

/** The text of a stream, an event at a time, each when it is pulled. */
export async function* encodeEvents(
  events: AsyncIterable<StreamEvent>,
): AsyncGenerator<string, void, undefined> {
  for await (const event of events) yield encodeEvent(event);
}
