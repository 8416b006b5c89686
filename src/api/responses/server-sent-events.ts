/** The format of event streams: server-sent events. */
import { getOrInsert } from "../../kernel/index.ts";
import type { StreamEvent, StreamItem } from "../../operations/index.ts";
import { unbuffered } from "../http.ts";

export const eventStreamHeaders = { "Content-Type": "text/event-stream", ...unbuffered } as const;

const lineBreak = /\r\n|\r|\n/;

const lines = (field: string, value: string): string =>
  value
    .split(lineBreak)
    .map((line) => `${field}: ${line}\n`)
    .join("");

/** A line break would start a new field, and browsers ignore an id that contains NUL. */
const oneLine = (field: string, value: string): string =>
  `${field}: ${value.replace(/[\r\n\0]/g, "")}\n`;

/** One event of a `text/event-stream` (WHATWG HTML, section 9.2). */
interface ServerSentEvent {
  /** The id that the client sends as `Last-Event-ID` when it reconnects. */
  readonly id?: string;
  readonly event?: string;
  /** May have several lines. Clients dispatch no event without data. */
  readonly data?: string;
  readonly retry?: number;
  readonly comment?: string;
}

export function encodeEvent({ id, event, data, retry, comment }: ServerSentEvent): string {
  let text = "";
  if (comment !== undefined) text += lines("", comment);
  if (retry !== undefined) text += oneLine("retry", String(Math.round(retry)));
  if (event !== undefined) text += oneLine("event", event);
  if (id !== undefined) text += oneLine("id", id);
  if (data !== undefined) text += lines("data", data);
  return `${text}\n`;
}

/** The encoded form of items, which the streams of a process share. */
const encoded = new WeakMap<object, string>();

function encodeItem(item: StreamItem<unknown>): string {
  return getOrInsert(encoded, item, () => {
    const { value, ...facts } = item;
    return encodeEvent({ ...facts, data: JSON.stringify(value) });
  });
}

/**
 * Encodes each event when it is pulled. A comment comes first: some servers, such as Bun, send the
 * head of a response only with the first chunk of its body, and the first event may be far off.
 */
export async function* encodeEvents(
  events: AsyncIterable<StreamEvent<unknown>>,
): AsyncGenerator<string, void, undefined> {
  yield encodeEvent({ comment: "" });
  for await (const event of events) {
    if ("value" in event) yield encodeItem(event);
    else if ("transient" in event) {
      yield encodeEvent({ event: event.event, data: JSON.stringify(event.transient) });
    } else yield encodeEvent(event);
  }
}
