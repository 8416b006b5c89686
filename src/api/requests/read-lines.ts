/** Reads the body of an import: NDJSON, a JSON value on each line. */
import { ByteCollector, TidingsError } from "../../kernel/index.ts";
import { checkDepth, decodeUtf8, parseJson } from "./request-body.ts";

/** The content type of NDJSON: JSON values, one per line. */
const ndjson =
  /^application\/x-ndjson[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*(?:utf-8|"utf-8")[ \t]*)?$/i;

export const isNdjson = (contentType: string | undefined): boolean =>
  contentType !== undefined && ndjson.test(contentType);

interface LineLimits {
  /** The number of lines that are not blank, and also the number of blank ones. */
  readonly lines: number;
  /** Bytes per line. */
  readonly bytes: number;
  /** Nesting depth of objects and arrays. */
  readonly depth: number;
}

const lineFeed = 10;

/**
 * Yields the value of each line, or the error of a line that cannot be parsed. Blank lines are
 * skipped. At most one line is in memory.
 * @throws TidingsError `body_too_large` when there are too many lines
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  limits: LineLimits,
): AsyncGenerator<unknown, void> {
  let values = 0;
  let blank = 0;
  for await (const line of split(chunks, limits.bytes)) {
    const value = line === undefined ? tooLong(limits.bytes) : parsed(line, limits.depth);
    const count = value === undefined ? ++blank : ++values;
    if (count > limits.lines) {
      throw new TidingsError("body_too_large", `An import takes up to ${limits.lines} lines.`);
    }
    if (value !== undefined) yield value;
  }
}

/**
 * Yields the bytes of each line, or undefined for a line longer than `maxBytes`, which is not kept.
 */
async function* split(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array | undefined, void> {
  let collected = new ByteCollector();
  let size = 0;
  const add = (part: Uint8Array): void => {
    size += part.length;
    if (size <= maxBytes) collected.add(part);
    else collected = new ByteCollector();
  };
  const line = (): Uint8Array | undefined => {
    const whole = size <= maxBytes ? collected.bytes : undefined;
    collected = new ByteCollector();
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

/** Returns undefined for a blank line. */
function parsed(line: Uint8Array, depth: number): unknown {
  try {
    const text = decodeUtf8(line, "line");
    if (text.trim() === "") return undefined;
    const value = parseJson(text, "line");
    checkDepth(value, depth);
    return value;
  } catch (error) {
    if (error instanceof TidingsError) return error;
    throw error;
  }
}

const tooLong = (bytes: number): TidingsError =>
  new TidingsError("body_too_large", `The line is longer than ${bytes} bytes.`);
