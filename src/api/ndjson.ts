/** JSON values, one a line (`application/x-ndjson`): read as they come, answered as they go. */
import { problem, type Problem, type RequestId, TidingsError } from "../kernel/index.ts";
import { checkDepth } from "./body.ts";

const ndjson =
  /^application\/x-ndjson[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*(?:utf-8|"utf-8")[ \t]*)?$/i;

export const isNdjson = (contentType: string | undefined): boolean =>
  contentType !== undefined && ndjson.test(contentType);

export const ndjsonHeaders = {
  "Content-Type": "application/x-ndjson",
  // A proxy that buffers would hold back what is known already.
  "X-Accel-Buffering": "no",
} as const;

export interface LineLimits {
  /** Lines that have something in them. */
  readonly lines: number;
  /** Bytes of one. */
  readonly bytes: number;
  /** Levels of objects and arrays. */
  readonly depth: number;
}

const lineFeed = 10;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * What the lines say. One that can't be read is answered as the error that says why, and the next goes on; blank ones are passed over. No
 * more is held than one line.
 * @throws TidingsError `body_too_large` when there are too many lines
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  limits: LineLimits,
): AsyncGenerator<unknown, void> {
  let left = limits.lines;
  for await (const line of split(chunks, limits.bytes)) {
    const value = line === undefined ? tooLong(limits.bytes) : parsed(line, limits.depth);
    if (value === undefined) continue;
    if (left-- === 0) {
      throw new TidingsError("body_too_large", `An import takes up to ${limits.lines} lines.`);
    }
    yield value;
  }
}

/** The bytes of each line; undefined of one that is longer than `most`, which is not kept. */
async function* split(
  chunks: AsyncIterable<Uint8Array>,
  most: number,
): AsyncGenerator<Uint8Array | undefined, void> {
  let parts: Uint8Array[] = [];
  let size = 0;
  const add = (part: Uint8Array): void => {
    size += part.length;
    if (size <= most) parts.push(part);
    else parts = [];
  };
  const line = (): Uint8Array | undefined => {
    const whole = size <= most ? Buffer.concat(parts, size) : undefined;
    parts = [];
    size = 0;
    return whole;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      add(chunk.subarray(start, end));
      yield line();
      start = end + 1;
    }
    add(chunk.subarray(start));
  }
  if (size > 0) yield line();
}

/** Undefined of a blank line. */
function parsed(line: Uint8Array, depth: number): unknown {
  try {
    const text = utf8.decode(line);
    if (text.trim() === "") return undefined;
    const value: unknown = JSON.parse(text);
    checkDepth(value, depth);
    return value;
  } catch (error) {
    // What the parser says quotes the line.
    return error instanceof TidingsError
      ? error
      : new TidingsError("malformed_json", "The line is not valid JSON in UTF-8.");
  }
}

const tooLong = (bytes: number): TidingsError =>
  new TidingsError("body_too_large", `The line is longer than ${bytes} bytes.`);

/** Characters that wait to be read: reports of some 600,000 rows that are well, and of a few thousand with all wrong that can be. */
const mostUnread = 64 * 1_024 * 1_024;

/**
 * The answer, a line for each report; then `{"result": …}`, or `{"error": …}` with the problem that ended it. The work goes on also while
 * nobody reads: many clients read no answer before they have sent all of their request, and waiting for each other would be for ever. What
 * is not read yet is kept, up to a bound that no import comes to whose rows are mostly well; then the work waits for its reader.
 */
export async function* reportLines(
  reports: AsyncGenerator<unknown, unknown>,
  request_id: RequestId,
  failed: (error: unknown) => void,
): AsyncGenerator<string, void> {
  let unread: string[] = [];
  let size = 0;
  let wake = (): void => {};
  let goOn = (): void => {};
  const state = { ended: false, left: false };
  const tell = (told: unknown): void => {
    const line = `${JSON.stringify(told)}\n`;
    unread.push(line);
    size += line.length;
    wake();
  };
  const work = async (): Promise<void> => {
    try {
      for (let next = await reports.next(); !state.left; next = await reports.next()) {
        if (next.done === true) {
          tell({ result: next.value });
          break;
        }
        tell(next.value);
        if (size > mostUnread) await new Promise<void>((resolve) => (goOn = resolve));
      }
    } catch (error) {
      tell({ error: problemOf(error, request_id, failed) });
    } finally {
      state.ended = true;
      wake();
      await reports.return(undefined).catch(() => {});
    }
  };
  void work();
  try {
    for (;;) {
      const lines = unread;
      unread = [];
      size = 0;
      goOn();
      if (lines.length > 0) yield lines.join("");
      else if (state.ended) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    state.left = true;
    goOn();
  }
}

function problemOf(
  error: unknown,
  request_id: RequestId,
  failed: (error: unknown) => void,
): Problem {
  const known =
    error instanceof TidingsError
      ? error
      : new TidingsError("internal", "Something failed on our side.");
  if (known.status >= 500) failed(error);
  return problem(known, request_id);
}
