/** One server-sent event. */
export interface StreamedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

/**
 * A longer line ends the stream. An event of the engine is at most some megabytes, and the rest of
 * an unfinished line must not grow without end.
 */
const maxLine = 8_000_000;

/**
 * Parses a `text/event-stream` (WHATWG HTML, section 9.2.6), chunk by chunk. `onEvent` gets each
 * event with data.
 */
export function eventParser(onEvent: (event: StreamedEvent) => void): (chunk: string) => void {
  let rest = "";
  let id = "";
  let type = "";
  let data: string[] = [];
  const readLine = (line: string): void => {
    if (line === "") {
      if (data.length > 0) onEvent({ id, type: type || "message", data: data.join("\n") });
      type = "";
      data = [];
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") data.push(value);
    else if (name === "event") type = value;
    else if (name === "id" && !value.includes("\0")) id = value;
  };
  return (chunk) => {
    rest += chunk;
    // A carriage return at the end may be the first half of a line break.
    const end = rest.endsWith("\r") ? rest.length - 1 : rest.length;
    const lines = rest.slice(0, end).split(/\r\n|\n|\r/);
    rest = (lines.pop() ?? "") + rest.slice(end);
    if (rest.length > maxLine) throw new RangeError("A line of the stream is too long.");
    for (const line of lines) readLine(line);
  };
}
