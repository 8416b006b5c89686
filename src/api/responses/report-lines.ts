/** Writes the reports of an import: NDJSON, a JSON value on each line. */
import { problem, type Problem, type RequestId } from "../../kernel/index.ts";
import { unbuffered } from "../http.ts";
import { publicError } from "./problem-response.ts";

export const ndjsonHeaders = { "Content-Type": "application/x-ndjson", ...unbuffered } as const;

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
    const others = this.#characters - own;
    return own > ownUnread && 2 * own > maxUnread - others;
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
  void writeReports(reports, lines, (error) => {
    const known = publicError(error);
    if (known.status >= 500) failed(error);
    return problem(known, request_id);
  });
  try {
    for (let text = await lines.take(); text !== undefined; text = await lines.take()) yield text;
  } finally {
    lines.leave();
  }
}

async function writeReports(
  reports: AsyncGenerator<unknown, unknown>,
  lines: UnreadLines,
  problemOf: (error: unknown) => Problem,
): Promise<void> {
  try {
    for (let next = await reports.next(); !lines.isLeft; next = await reports.next()) {
      if (next.done === true) {
        lines.push({ result: next.value });
        break;
      }
      lines.push(next.value);
      await lines.room();
    }
  } catch (error) {
    lines.push({ error: problemOf(error) });
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

  /** Waits until readers have taken enough lines, or this one has left. */
  async room(): Promise<void> {
    while (!this.#isLeft && this.#ofAll.isFullFor(this.#size)) await this.#ofAll.change();
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
