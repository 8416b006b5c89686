/** The runs that wait for a person's decision. */
import type { Page, Run } from "../../../../src/index.ts";
import { api } from "./connection/http.ts";

/** The maximum page size of the API. */
const pageSize = 100;

export interface WaitingRuns {
  /** In the order of the list. */
  readonly runs: readonly Run[];
  /** Whether more wait than were read. */
  readonly hasMore: boolean;
}

/**
 * Reads the runs of a list that wait for a decision: those of the first pages, 1,000 runs unless
 * the caller says otherwise. A run can be large.
 */
export async function readWaitingRuns(
  path: string,
  signal: AbortSignal,
  maxPages = 10,
): Promise<WaitingRuns> {
  const runs: Run[] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const query = { status: "awaiting_approval", limit: pageSize, cursor };
    const page: Page<Run> = await api.get<Page<Run>>(path, { query, signal });
    runs.push(...page.data);
    cursor = page.next_cursor;
    pages += 1;
  } while (cursor !== null && pages < maxPages);
  return { runs, hasMore: cursor !== null };
}
