/** The format of imports and their reports: NDJSON, a JSON value on each line. */
import { problem, type Problem, type RequestId, TidingsError } from "../kernel/index.ts";
import { checkDepth } from "./request-body.ts";
import { publicError } from "./problem-response.ts";
import { unbuffered } from "./http.ts";

/** The content type of NDJSON: JSON values, one per line. */
const ndjson =
  /^application\/x-ndjson[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*(?:utf-8|"utf-8")[ \t]*)?$/i;

export const isNdjson = (contentType: string | undefined): boolean =>
  contentType !== undefined && ndjson.test(contentType);

export const ndjsonHeaders = { "Content-Type": "application/x-ndjson", ...unbuffered } as const;

interface LineLimits {
  /** The number of lines that are not blank. */
  readonly lines: number;
  /** Bytes per line. */
  readonly bytes: number;
  /** Nesting depth of objects and arrays. */
  readonly depth: number;
}

const lineFeed = 10;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Yields the value of each line, or the error of a line that cannot be parsed. Blank lines are
 * skipped. At most one line is in memory.
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

/**
 * Yields the bytes of each line, or undefined for a line longer than `maxBytes`, which is not kept.
 */
async function* split(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array | undefined, void> {
  let parts: Uint8Array[] = [];
  let size = 0;
  const add = (part: Uint8Array): void => {
    size += part.length;
    if (size <= maxBytes) parts.push(part);
    else parts = [];
  };
  const line = (): Uint8Array | undefined => {
    const whole = size <= maxBytes ? Buffer.concat(parts, size) : undefined;
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

/** Returns undefined for a blank line. */
function parsed(line: Uint8Array, depth: number): unknown {
  try {
    const text = utf8.decode(line);
    if (text.trim() === "") return undefined;
    const value: unknown = JSON.parse(text);
    checkDepth(value, depth);
    return value;
  } catch (error) {
    // The parser's message quotes the line, so it is not passed on.
    return error instanceof TidingsError
      ? error
      : new TidingsError("malformed_json", "The line is not valid JSON in UTF-8.");
  }
}

const tooLong = (bytes: number): TidingsError =>
  new TidingsError("body_too_large", `The line is longer than ${bytes} bytes.`);

/** The maximum number of characters of all imports that may wait to be read. */
const maxUnread = 64 * 1_024 * 1_024;
/**
 * The number of characters of one import that may wait in any case, so that other imports cannot
 * hold up its first rows.
 */
const ownUnread = 64 * 1_024;
/** About how many characters a reader takes at once. They do not count while it writes them. */
const chunkLength = 64 * 1_024;

/** How many characters of the reports of all imports wait to be read. */
export class UnreadReports {
  #characters = 0;
  readonly #wakes: (() => void)[] = [];

  /**
   * Whether an import must wait until a reader takes lines. It may fill half of what the others
   * have left, so that an import that nobody reads leaves room for those that begin later. If there
   * is no other, it may fill half of all: about 350,000 reports of valid rows, or 15,000 of rows
   * with 20 errors.
   */
  isFullFor(own: number): boolean {
    return own > ownUnread && own > maxUnread - this.#characters;
  }

  add(characters: number): void {
    this.#characters += characters;
  }

  remove(characters: number): void {
    this.#characters -= characters;
    for (const wake of this.#wakes.splice(0)) wake();
  }

  /** Resolves when a reader has taken lines, or has left. */
  change(): Promise<void> {
    return new Promise((resolve) => this.#wakes.push(resolve));
  }
}

/** What reporting needs besides the reports. */
interface ReportOptions {
  readonly request_id: RequestId;
  readonly failed: (error: unknown) => void;
  /** All imports of an engine share it. */
  readonly unread: UnreadReports;
}

/**
 * Yields a line for each report, then `{"result": …}`, or `{"error": …}` with the problem that
 * ended the work. The work continues while the client reads nothing: many clients read the response
 * only after they have sent the whole request, and waiting for them would deadlock. Unread lines
 * are buffered up to a limit that a few imports of mostly valid rows do not reach together. Beyond
 * it, the work waits until a client reads.
 */
export async function* reportLines(
  reports: AsyncGenerator<unknown, unknown>,
  { request_id, failed, unread }: ReportOptions,
): AsyncGenerator<string, void> {
  const lines = new UnreadLines(unread);
  const toProblem = (error: unknown): Problem => problemOf(error, request_id, failed);
  void writeReports(reports, lines, { unread, toProblem });
  try {
    for (let text = await lines.take(); text !== undefined; text = await lines.take()) yield text;
  } finally {
    lines.leave();
  }
}

async function writeReports(
  reports: AsyncGenerator<unknown, unknown>,
  lines: UnreadLines,
  {
    unread,
    toProblem,
  }: Pick<ReportOptions, "unread"> & { readonly toProblem: (error: unknown) => Problem },
): Promise<void> {
  try {
    for (let next = await reports.next(); !lines.isLeft; next = await reports.next()) {
      if (next.done === true) {
        lines.push({ result: next.value });
        break;
      }
      lines.push(next.value);
      while (lines.isFull) await unread.change();
    }
  } catch (error) {
    lines.push({ error: toProblem(error) });
  } finally {
    lines.end();
    await reports.return(undefined).catch(() => {});
  }
}

/** Lines between the work that writes them and the reader. */
class UnreadLines {
  readonly #ofAll: UnreadReports;
  /** The lines, in chunks. */
  #chunks: string[] = [];
  #size = 0;
  #hasEnded = false;
  #isLeft = false;
  #wakeReader = (): void => {};

  constructor(ofAll: UnreadReports) {
    this.#ofAll = ofAll;
  }

  push(value: unknown): void {
    if (this.#isLeft) return;
    const line = `${JSON.stringify(value)}\n`;
    const last = this.#chunks.at(-1) ?? "";
    if (last === "" || last.length + line.length > chunkLength) this.#chunks.push(line);
    else this.#chunks[this.#chunks.length - 1] = last + line;
    this.#size += line.length;
    this.#ofAll.add(line.length);
    this.#wakeReader();
  }

  /** No line follows. */
  end(): void {
    this.#hasEnded = true;
    this.#wakeReader();
  }

  /** Whether the work has to wait until a reader takes lines. */
  get isFull(): boolean {
    return !this.#isLeft && this.#ofAll.isFullFor(this.#size);
  }

  /** Waits for lines and takes a chunk of them. Returns undefined after the last. */
  async take(): Promise<string | undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#remove(chunk.length);
        return chunk;
      }
      if (this.#hasEnded) return undefined;
      await new Promise<void>((resolve) => (this.#wakeReader = resolve));
    }
  }

  /** Nobody reads any more. */
  leave(): void {
    this.#isLeft = true;
    this.#chunks = [];
    this.#remove(this.#size);
  }

  #remove(characters: number): void {
    this.#size -= characters;
    this.#ofAll.remove(characters);
  }

  get isLeft(): boolean {
    return this.#isLeft;
  }
}

function problemOf(
  error: unknown,
  request_id: RequestId,
  failed: (error: unknown) => void,
): Problem {
  const known = publicError(error);
  if (known.status >= 500) failed(error);
  return problem(known, request_id);
}
