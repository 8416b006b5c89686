import {
  mayQuote,
  redactedRun,
  runResource,
  runs,
  runsOfConversation,
  type RunRow,
} from "../agents/index.ts";
import { contactsMergedInto, findSurvivor, type ContactRow } from "../contacts/index.ts";
import {
  completedEventId,
  eventById,
  handoffEventId,
  rewriteEvent,
  type EventRow,
} from "../events/index.ts";
import type { MessageRow } from "../messages/index.ts";
import { observations, type ObservationRow } from "../observations/index.ts";
import { eraseStoredResponses, type HistoryChunks } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { rewriteDeliveries } from "../webhooks/index.ts";
import { maxMerged } from "./merge-rules.ts";

/** For each row of a kind that a transaction may write, it may read this many. */
const readPerWritten = 10;

/**
 * Removes all text from the agent runs that may quote a redacted message, and removes the
 * observations that models and rules made from it. If that is too much for one transaction, returns
 * false and removes nothing: the job must do it.
 */
export async function removeQuotes(
  tx: Tx,
  message: MessageRow,
  owners: readonly ContactRow[],
  { rows }: HistoryChunks,
): Promise<boolean> {
  const max = rows * readPerWritten;
  const [runRows, observationLists] = await Promise.all([
    tx.list(runsOfConversation, [message.conversation_id], max),
    observationsOf(tx, owners, max),
  ]);
  const quoting = runRows.filter((run) => isQuoting(run, message));
  const isCut = [runRows, ...observationLists].some(({ length }) => length === max);
  if (isCut || quoting.length > rows) return false;
  await redactRuns(tx, quoting, message);
  removeObservations(tx, observationLists.flat(), message);
  return true;
}

/**
 * Whether a run has ended and may quote a redacted message. A run in progress does not quote it:
 * while one may, the redaction is refused.
 */
function isQuoting(run: RunRow, message: MessageRow): boolean {
  return run.finished_at !== null && mayQuote(run, message);
}

/**
 * Returns the contacts that may have observations and events from a message: those that were merged
 * into the survivor, and the survivor last. While a merge moves a history, the message and its
 * observations can belong to different contacts. Events stay with the contact that they had.
 */
export async function ownersOf(tx: Tx, { contact_id }: MessageRow): Promise<readonly ContactRow[]> {
  // Held: a merge that changes which contact is the survivor writes these rows.
  const survivor = await findSurvivor(tx, contact_id, { hold: true });
  // An erasure removes the history of a contact that is gone.
  if (survivor === undefined) return [];
  return [...(await tx.list(contactsMergedInto, [survivor.id], maxMerged)), survivor];
}

/** Returns up to `max` observations of each of the owners of a message. */
async function observationsOf(
  tx: Tx,
  owners: readonly ContactRow[],
  max: number,
): Promise<readonly (readonly Seen<ObservationRow>[])[]> {
  const ofContact = ({ id }: ContactRow) => tx.list(observations.primary, [id], max);
  const ofMerged = await Promise.all(owners.slice(0, -1).map(ofContact));
  // Read last: an observation that moves meanwhile is then found here.
  return [...ofMerged, ...(await Promise.all(owners.slice(-1).map(ofContact)))];
}

/** Removes the given observations if models or rules made them from the message. */
export function removeObservations(
  tx: Tx,
  observationRows: readonly Seen<ObservationRow>[],
  { id }: MessageRow,
): void {
  for (const observation of observationRows) {
    const { source, evidence_message_ids } = observation;
    const isFromText = source === "model" || source === "rule";
    if (isFromText && evidence_message_ids.includes(id)) tx.remove(observations, observation);
  }
}

/**
 * Removes all text from those of the given runs that may quote a redacted message, from the events
 * of these runs and from the stored responses that show them.
 */
export async function redactRuns(
  tx: Tx,
  runRows: readonly Seen<RunRow>[],
  message: MessageRow,
): Promise<void> {
  const quoting = runRows.filter((run) => isQuoting(run, message));
  const rewrites = await Promise.all(quoting.map((run) => redactRun(tx, run)));
  await rewriteEvents(tx, rewrites.flat());
}

/** An event, if it is still there, and the data that is left of it. */
interface Rewrite {
  readonly event: Seen<EventRow> | undefined;
  readonly data: object;
}

/** Redacts a run. Returns what is left of its events. */
async function redactRun(tx: Tx, run: Seen<RunRow>): Promise<readonly Rewrite[]> {
  const redacted = tx.update(runs, run, redactedRun(run));
  const [completed, handedOff] = await Promise.all([
    tx.get(eventById, [completedEventId(run.id)]),
    tx.get(eventById, [handoffEventId(run.id)]),
    eraseAllResponses(tx, run.id),
  ]);
  return [
    { event: completed, data: { run: runResource(redacted) } },
    { event: handedOff, data: { ...handedOff?.data, reason: "", summary: "" } },
  ];
}

/** Replaces the data of events, wherever it or a quote of it is stored. */
export async function rewriteEvents(tx: Tx, all: readonly Rewrite[]): Promise<void> {
  const rewritten = all.flatMap(({ event, data }) =>
    // An erasure has already rewritten the event.
    event === undefined || event.contact_id === null ? [] : [rewriteEvent(tx, event, { data })],
  );
  await rewriteDeliveries(tx, rewritten);
}

/**
 * Erases all stored responses that show a resource. This takes one transaction: a response that is
 * stored later shows no redacted text, and must stay. Idempotency keys expire, which limits the
 * number of responses.
 */
export async function eraseAllResponses(tx: Tx, id: string): Promise<void> {
  while (!(await eraseStoredResponses(tx, id))) continue;
}
