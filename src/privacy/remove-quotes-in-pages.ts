import { runById, runsOfConversation } from "../agents/index.ts";
import { contactsMergedInto, findSurvivor, type ContactRow } from "../contacts/index.ts";
import { eraseConsumerErrorsOfKeys } from "../events/index.ts";
import type { Scope } from "../kernel/index.ts";
import { messageById, type MessageRow } from "../messages/index.ts";
import { observationById, observations } from "../observations/index.ts";
import type { Runtime } from "../operations/index.ts";
import type { ScopedIndex } from "../ports/index.ts";
import { finish, renew, type Claim, type JobHandler } from "../queue/index.ts";
import { background, type Tx } from "../store/index.ts";
import { maxMerged } from "./merge-rules.ts";
import { redactRuns, removeObservations } from "./remove-quotes.ts";

/**
 * Removes what may quote a redacted message, one page of rows per transaction. If it is
 * interrupted, it starts again, and what is removed stays removed. A run that begins after the
 * redaction and ends before the job has read it loses its text, too: the clocks of engines differ,
 * so the time does not tell which runs began before.
 */
export function removeQuotesInPages(runtime: Runtime): JobHandler<"redact"> {
  const { store } = runtime;
  return async (claim, { stopping }) => {
    const reads = store.reads(claim);
    const message = await reads.get(messageById, [claim.key.message_id]);
    const survivor = message && (await findSurvivor(reads, message.contact_id));
    const pages = new Pages(runtime, claim, stopping);
    if (message === undefined || survivor === undefined) {
      // The erasure of the contact removes its history.
      await pages.commit((tx) => finish(tx, claim));
      return;
    }
    const [merged = []] = await reads.lists(contactsMergedInto, [[survivor.id]], maxMerged);
    // The survivor is last: an observation that a merge moves meanwhile is then found there.
    const owners = [...merged, survivor];
    const isDone =
      (await removeFromRuns(pages, message)) && (await removeFromContacts(pages, message, owners));
    await pages.commit(async (tx) => {
      // Held: a merge that changes which contact is the survivor writes these rows.
      const latest = await findSurvivor(tx, message.contact_id, { hold: true });
      const isComplete = isDone && (latest === undefined || latest.id === survivor.id);
      // The handler of a consumer may have read a run before it was redacted.
      const keys = [message.conversation_id, ...owners.map((each) => each.id)];
      if (isComplete) await eraseConsumerErrorsOfKeys(tx, keys);
      await finish(tx, claim, isComplete ? {} : { againAt: tx.now });
    });
  };
}

function removeFromRuns(pages: Pages, message: MessageRow): Promise<boolean> {
  return pages.take(runsOfConversation, message.conversation_id, async (tx, page) => {
    const found = await Promise.all(page.map(({ id }) => tx.get(runById, [id])));
    const runRows = found.filter((run) => run !== undefined);
    await redactRuns(tx, runRows, message);
  });
}

async function removeFromContacts(
  pages: Pages,
  message: MessageRow,
  contacts: readonly ContactRow[],
): Promise<boolean> {
  for (const { id } of contacts) {
    const isTaken = await pages.take(observations.primary, id, async (tx, page) => {
      const found = await Promise.all(page.map((each) => tx.get(observationById, [id, each.id])));
      const observationRows = found.filter((each) => each !== undefined);
      removeObservations(tx, observationRows, message);
    });
    if (!isTaken) return false;
  }
  return true;
}

/** Handles rows page by page, until the job loses its lease or the engine stops. */
class Pages {
  readonly #runtime: Runtime;
  readonly #claim: Claim<"redact">;
  readonly #stopping: AbortSignal;

  constructor(runtime: Runtime, claim: Claim<"redact">, stopping: AbortSignal) {
    this.#runtime = runtime;
    this.#claim = claim;
    this.#stopping = stopping;
  }

  /** Runs a transaction. Returns false if the lease was lost. */
  commit(work: (tx: Tx) => Promise<void>): Promise<boolean> {
    const scope: Scope = this.#claim;
    return this.#runtime.store.commit(
      scope,
      async (tx) => {
        if ((await renew(tx, this.#claim)) === undefined) return false;
        await work(tx);
        return true;
      },
      background,
    );
  }

  /**
   * Calls `work` for each page of the rows under a key of an index, which orders them by their ids.
   * Returns false if the job must end before the last page.
   */
  async take<R extends Scope & { readonly id: string }>(
    index: ScopedIndex<R>,
    key: string,
    work: (tx: Tx, page: readonly R[]) => Promise<void>,
  ): Promise<boolean> {
    const { store, services } = this.#runtime;
    const { rows: limit } = services.historyChunks;
    const range = { index, prefix: [key], order: "ascending", limit } as const;
    let after: { readonly after?: readonly string[] } = {};
    while (!this.#stopping.aborted) {
      const page = await store.reads(this.#claim).range({ ...range, ...after });
      if (!(await this.commit((tx) => work(tx, page)))) return false;
      const last = page.at(-1);
      if (last === undefined || page.length < limit) return true;
      after = { after: [last.id] };
    }
    return false;
  }
}
