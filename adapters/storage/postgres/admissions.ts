/**
 * Sliding logs in the database, one row for each key: the times of the last admissions, in microseconds. They are judged by the
 * server's clock, read when the row is locked: in the order of the judgements. A clock that steps back would stretch
 * the window by the step; its steps are added up instead (`ahead`), as in the log of one process.
 */
import type { Admission, AdmissionRequest } from "../../../src/ports/storage.ts";
import type { Connections } from "./connections.ts";
import type { Names } from "./names.ts";
import type { Result, Statement } from "./session/batch.ts";

interface Waiting {
  readonly request: AdmissionRequest;
  readonly answer: (admission: Admission) => void;
  readonly fail: (error: unknown) => void;
}

export class Admissions {
  readonly #connections: Connections;
  readonly #sql: string;
  readonly #waiting: Waiting[] = [];
  #asking = false;

  constructor(connections: Connections, names: Names) {
    this.#connections = connections;
    this.#sql = admissionSql(names);
  }

  /** Requests that come while others are being judged share the next round trip. */
  admit(asked: readonly AdmissionRequest[]): Promise<readonly Admission[]> {
    const answers = asked.map(
      (request) =>
        new Promise<Admission>(
          (answer, fail) => void this.#waiting.push({ request, answer, fail }),
        ),
    );
    if (!this.#asking) void this.#ask();
    return Promise.all(answers);
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    while (this.#waiting.length > 0) {
      const alike = alikes(this.#waiting.splice(0));
      try {
        const [, ...results] = await this.#connections.atomic([
          patience,
          ...alike.map((each) => this.#statement(each)),
        ]);
        for (const [i, each] of alike.entries()) answer(each, results[i]);
      } catch (error) {
        for (const { fail } of alike.flat()) fail(error);
      }
    }
    this.#asking = false;
  }

  #statement(alike: readonly Waiting[]): Statement {
    const { key = "", limit = 0, window = 0 } = alike[0]?.request ?? {};
    return {
      text: this.#sql,
      values: [key, String(alike.length), String(limit), String(window * 1_000)],
    };
  }
}

const patience: Statement = { text: "SELECT set_config('lock_timeout', '5s', true)", values: [] };

/** Requests of one key and limit, each list in the order of arrival; the lists by their keys, so that none waits in a circle. */
function alikes(waiting: readonly Waiting[]): Waiting[][] {
  const lists = Map.groupBy(waiting, ({ request: { key, limit, window } }) =>
    JSON.stringify([key, limit, window]),
  );
  return [...lists].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, list]) => list);
}

/** $1 key, $2 requests, $3 limit, $4 window in microseconds. Answers the time, the admitted, how many are in the window, and two of them. */
function admissionSql({ admissions }: Names): string {
  const now = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now";
  return `
    INSERT INTO ${admissions} AS log (key, times, seen, ahead, admitted)
    SELECT $1::text, array_fill(now, ARRAY[least($2::integer, $3::integer)]), now, 0, least($2::integer, $3::integer)
      FROM (${now}) AS clock
    ON CONFLICT (key) DO UPDATE SET (times, seen, ahead, admitted) = (
      SELECT recent.times || array_fill(steady.time, ARRAY[free.admitted]), clock.now, steady.ahead, free.admitted
        FROM (${now}) AS clock
        CROSS JOIN LATERAL (SELECT log.ahead + greatest(0, log.seen - clock.now) AS ahead,
                                   clock.now + log.ahead + greatest(0, log.seen - clock.now) AS time) AS steady
        CROSS JOIN LATERAL (SELECT ARRAY(SELECT each FROM unnest(log.times) AS each
                                          WHERE each > steady.time - $4::bigint) AS times) AS recent
        CROSS JOIN LATERAL (SELECT least($2::integer, greatest(0, $3::integer - cardinality(recent.times))) AS admitted)
                   AS free)
    RETURNING seen + ahead, admitted, cardinality(times), times[greatest(1, cardinality(times) - $3::integer + 1)],
              times[cardinality(times)]`;
}

function answer(alike: readonly Waiting[], result: Result | undefined): void {
  const [time = 0, admitted = 0, count = 0, oldest = 0, newest = 0] = (result?.rows[0] ?? []).map(
    Number,
  );
  for (const [i, { request, answer: tell }] of alike.entries()) {
    const { limit, window } = request;
    const isAdmitted = i < admitted;
    const remaining = Math.max(0, limit - (isAdmitted ? count - admitted + i + 1 : count));
    const until = (freed: number): number => Math.ceil((freed - time) / 1_000) + window;
    tell({
      admitted: isAdmitted,
      limit,
      remaining,
      reset_ms: until(isAdmitted ? time : newest),
      retry_after_ms: remaining > 0 ? 0 : until(oldest),
    });
  }
}
