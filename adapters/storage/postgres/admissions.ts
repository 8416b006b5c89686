/**
 * Rate limits as sliding logs in the database: one row for each key, with the times of the last
 * admitted requests in microseconds. Each decision uses the server's clock, which is read after the
 * row is locked, so times ascend in the order of the decisions. A clock that steps back would
 * lengthen the window by the step, so the column `ahead` holds the sum of all steps, as in the
 * sliding log of one process.
 */
import { getOrInsert } from "../../../src/kernel/index.ts";
import type { Admission, AdmissionRequest } from "../../../src/ports/index.ts";
import type { ConnectionPool } from "./connections/pool.ts";
import type { Result, Statement } from "./connections/statement.ts";
import type { Names } from "./names.ts";
import { admissionSettings } from "./transactions/settings.ts";

interface PendingRequest {
  readonly request: AdmissionRequest;
  readonly resolve: (admission: Admission) => void;
  readonly reject: (error: unknown) => void;
}

/** Requests under one key and limit, in order of arrival. One statement decides them. */
interface RequestGroup extends Pick<AdmissionRequest, "key" | "limit" | "window"> {
  readonly members: readonly PendingRequest[];
}

/** Admits or refuses requests by rate limits that all processes share. */
export class Admissions {
  readonly #pool: ConnectionPool;
  readonly #sql: string;
  readonly #pending: PendingRequest[] = [];
  #isRunning = false;

  constructor(pool: ConnectionPool, names: Names) {
    this.#pool = pool;
    this.#sql = admissionSql(names);
  }

  /** Requests that come during a round trip share the next one. */
  admit(requests: readonly AdmissionRequest[]): Promise<readonly Admission[]> {
    const admissions = requests.map(
      (request) =>
        new Promise<Admission>(
          (resolve, reject) => void this.#pending.push({ request, resolve, reject }),
        ),
    );
    if (!this.#isRunning) void this.#run();
    return Promise.all(admissions);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#pending.length > 0) {
      const groups = groupByLimit(this.#pending.splice(0));
      try {
        const [, ...results] = await this.#pool.atomic([
          admissionSettings,
          ...groups.map((group) => this.#statement(group)),
        ]);
        for (const [i, group] of groups.entries()) settle(group, results[i]);
      } catch (error) {
        for (const { members } of groups) for (const { reject } of members) reject(error);
      }
    }
    this.#isRunning = false;
  }

  #statement({ key, limit, window, members }: RequestGroup): Statement {
    return {
      text: this.#sql,
      values: [key, String(members.length), String(limit), String(window * 1_000)],
    };
  }
}

/**
 * Groups requests by key and limit. The groups are sorted, so that two processes lock the rows of
 * their keys in the same order and do not deadlock.
 */
function groupByLimit(pending: readonly PendingRequest[]): RequestGroup[] {
  const groups = new Map<string, RequestGroup & { readonly members: PendingRequest[] }>();
  for (const each of pending) {
    const { key, limit, window } = each.request;
    const id = JSON.stringify([key, limit, window]);
    getOrInsert(groups, id, () => ({ key, limit, window, members: [] })).members.push(each);
  }
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

/**
 * Returns the statement for a group of requests. Parameters: the key, the number of requests, the
 * limit, the window in microseconds. It returns the time, how many requests it admitted, how many
 * are in the window, and the times of two of them: the one whose end of the window admits the next
 * request, and the newest.
 */
function admissionSql({ admissions }: Names): string {
  const now = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now";
  return `
    INSERT INTO ${admissions} AS log (key, times, seen, ahead, admitted)
    SELECT $1::text, array_fill(now, ARRAY[least($2::integer, $3::integer)]), now, 0,
           least($2::integer, $3::integer)
      FROM (${now}) AS clock
    ON CONFLICT (key) DO UPDATE SET (times, seen, ahead, admitted) = (
      SELECT recent.times || array_fill(steady.time, ARRAY[free.admitted]),
             clock.now, steady.ahead, free.admitted
        FROM (${now}) AS clock
        CROSS JOIN LATERAL (SELECT log.ahead + greatest(0, log.seen - clock.now) AS ahead,
                                   clock.now + log.ahead + greatest(0, log.seen - clock.now) AS time
                           ) AS steady
        CROSS JOIN LATERAL (SELECT ARRAY(SELECT each FROM unnest(log.times) AS each
                                          WHERE each > steady.time - $4::bigint) AS times) AS recent
        CROSS JOIN LATERAL (SELECT least($2::integer,
                                         greatest(0, $3::integer - cardinality(recent.times)))
                                   AS admitted) AS free)
    RETURNING seen + ahead, admitted, cardinality(times),
              times[greatest(1, cardinality(times) - $3::integer + 1)],
              times[cardinality(times)]`;
}

function settle({ limit, window, members }: RequestGroup, result: Result | undefined): void {
  const [time = 0, admitted = 0, count = 0, oldest = 0, newest = 0] = (result?.rows[0] ?? []).map(
    Number,
  );
  for (const [i, { resolve }] of members.entries()) {
    const isAdmitted = i < admitted;
    const remaining = Math.max(0, limit - (isAdmitted ? count - admitted + i + 1 : count));
    const until = (freed: number): number => Math.ceil((freed - time) / 1_000) + window;
    resolve({
      admitted: isAdmitted,
      limit,
      remaining,
      reset_ms: until(isAdmitted ? time : newest),
      retry_after_ms: remaining > 0 ? 0 : until(oldest),
    });
  }
}
