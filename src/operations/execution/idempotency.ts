/**
 * Runs operations under idempotency keys. A command claims its key, writes its data and stores its
 * response in one transaction, so it is never half done under a key. If two requests with one key
 * race, one commits. The other runs again, finds the stored response and returns it. A procedure
 * claims its key before its first step.
 */
import { hourMs, problem, ReplayedError, TidingsError, type Problem } from "../../kernel/index.ts";
import type { Tx } from "../../store/index.ts";
import type { Call, Command, Outcome, Procedure } from "../operation.ts";
import { standardHistoryChunks, type Services } from "../runtime.ts";
import {
  idempotency,
  idempotencyAlsoShowing,
  idempotencyByKey,
  type IdempotencyRow,
} from "./rows.ts";

/** The idempotency key that an operation claims. */
export interface KeyClaim {
  readonly key: string;
  /** See `fingerprint.ts`. */
  readonly fingerprint: string;
  /** How long the key is remembered, in hours. */
  readonly idempotencyHours: number;
  /** The error of the command's check, if the input is invalid. */
  readonly refusal?: TidingsError | undefined;
}

/** What a command under an idempotency key commits: its writes, or only its error. */
type CommandResult<Output> =
  | { readonly ok: true; readonly outcome: Outcome<Output> }
  | { readonly ok: false; readonly error: TidingsError };

/** Runs a command under its idempotency key, or replays the response that is stored for it. */
export async function runUnderKey<Input, Output>(
  tx: Tx,
  command: Command<Input, Output>,
  input: Input,
  call: Call,
  claim: KeyClaim,
): Promise<CommandResult<Output>> {
  const { key, fingerprint, refusal } = claim;
  const before = await tx.get(idempotencyByKey, [key]);
  if (before !== undefined) {
    if (await isRemembered(tx, before, call.services)) {
      return { ok: true, outcome: replay(before, fingerprint) };
    }
    tx.remove(idempotency, before);
  }
  if (refusal !== undefined) throw refusal;

  const result = await runCommand(tx, command, input, call);
  if (!result.ok) await command.touch?.(tx, input);
  const stored = result.ok
    ? storedResponse(command, result.outcome, input, call)
    : storedProblem(command, result.error, input, call);
  tx.insert(idempotency, {
    key,
    fingerprint,
    ...stored,
    survives_reset: command.survivesReset ?? null,
    expires_at: expiry(tx.now, call, claim),
  });
  return result;
}

/**
 * Runs the command. An error that would recur is a result too: the writes are rolled back and the
 * error is stored. An error that depends on the caller is not stored, since another API key of the
 * account may repeat the request.
 */
async function runCommand<Input, Output>(
  tx: Tx,
  command: Command<Input, Output>,
  input: Input,
  call: Call,
): Promise<CommandResult<Output>> {
  try {
    const value = await tx.attempt((attempt) => command.run(attempt, input, call));
    const outcome = {
      status: command.status,
      value,
      body: JSON.stringify(value ?? null),
      replayed: false,
    };
    return { ok: true, outcome };
  } catch (error) {
    if (error instanceof TidingsError && isStoredError(error)) return { ok: false, error };
    throw error;
  }
}

function isStoredError({ retryable, status }: TidingsError): boolean {
  return !retryable && status < 500 && status !== 401 && status !== 403;
}

type StoredColumns = Pick<IdempotencyRow, "status" | "response" | "subject_id" | "also_shows">;

function storedResponse<Input, Output>(
  command: Command<Input, Output>,
  { status, value, body }: Outcome<Output>,
  input: Input,
  call: Call,
): StoredColumns {
  const response = command.onReplay === undefined ? body : JSON.stringify(command.onReplay(value));
  const subject_id = command.shows(input, value, call);
  const also_shows = command.storesKey === true ? null : subject_id;
  return { status, response, subject_id, also_shows };
}

function storedProblem<Input>(
  command: Command<Input, unknown>,
  error: TidingsError,
  input: Input,
  call: Call,
): StoredColumns {
  const response = JSON.stringify(problem(error, call.request_id));
  const also_shows = command.shows(input, undefined, call);
  return { status: error.status, response, subject_id: null, also_shows };
}

/** Returns the stored outcome of an equal request, or throws its stored error. */
function replay<Output>(
  { status, response, ...row }: IdempotencyRow,
  fingerprint: string,
): Outcome<Output> {
  if (row.fingerprint !== fingerprint) throw keyReused();
  if (response === null) {
    const message = "The resource that this request created has been erased or redacted.";
    throw new TidingsError("erased", message);
  }
  if (status < 400) return replayOf(status, response);
  const { code, detail, errors, conflicting_id } = JSON.parse(response) as Problem;
  throw new ReplayedError(code, detail, { errors, conflictingId: conflicting_id }, response);
}

/** `body` was stored for an equal request, so it is of the same type. */
export function replayOf<Output>(status: number, body: string): Outcome<Output> {
  return { status, value: JSON.parse(body) as Output, body, replayed: true };
}

function keyReused(): TidingsError {
  return new TidingsError(
    "idempotency_key_reused",
    "This idempotency key was already used with a different request. Use a new key.",
  );
}

/**
 * Claims the key of a procedure. Returns the row of an earlier identical request, or undefined if
 * the key is new.
 */
export async function claimKey(
  tx: Tx,
  { status, survivesReset }: Pick<Procedure<never, unknown>, "status" | "survivesReset">,
  call: Call,
  claim: KeyClaim,
): Promise<IdempotencyRow | undefined> {
  const { key, fingerprint } = claim;
  const before = await tx.get(idempotencyByKey, [key]);
  if (before !== undefined && before.expires_at > tx.now) {
    if (before.fingerprint !== fingerprint) throw keyReused();
    return before;
  }
  if (before !== undefined) tx.remove(idempotency, before);
  tx.insert(idempotency, {
    key,
    fingerprint,
    status,
    response: null,
    subject_id: null,
    also_shows: null,
    survives_reset: survivesReset ?? null,
    expires_at: expiry(tx.now, call, claim),
  });
  return undefined;
}

/** A repetition of the request has stored its response before this run ended. */
export class AnsweredMeanwhile extends Error {
  readonly status: number;
  readonly body: string;

  constructor(status: number, body: string) {
    super("a repetition of the request was answered first");
    this.status = status;
    this.body = body;
  }
}

/**
 * Ends a run of a procedure whose key has a response. The row of the key is held until the commit,
 * so that a run changes nothing after another run has answered.
 * @throws AnsweredMeanwhile
 */
export async function refuseIfAnswered(tx: Tx, key: string): Promise<void> {
  const claimed = await tx.get(idempotencyByKey, [key], { hold: true });
  if (claimed !== undefined && claimed.response !== null) {
    throw new AnsweredMeanwhile(claimed.status, claimed.response);
  }
}

/**
 * Stores the whole response of a procedure under its key.
 * @throws AnsweredMeanwhile if another run has stored its response
 */
export async function storeWholeResponse(tx: Tx, key: string, response: string): Promise<void> {
  await refuseIfAnswered(tx, key);
  const claimed = await tx.get(idempotencyByKey, [key]);
  if (claimed !== undefined) tx.update(idempotency, claimed, { response });
}

function expiry(now: number, { busy_until = 0 }: Call, { idempotencyHours }: KeyClaim): number {
  return Math.max(now, busy_until) + idempotencyHours * hourMs;
}

/**
 * Whether a key still replays its response. It does during its lifetime, and afterwards while the
 * resource that the request created is in progress, since a retry must find that resource.
 */
export async function isRemembered(
  tx: Tx,
  { subject_id, expires_at }: IdempotencyRow,
  { isInProgress }: Pick<Services, "isInProgress">,
): Promise<boolean> {
  if (expires_at > tx.now) return true;
  return subject_id !== null && isInProgress(tx, subject_id);
}

/** Erases up to `max` stored responses that show a resource. Returns whether none are left. */
export async function eraseStoredResponses(
  tx: Tx,
  id: string,
  max: number = standardHistoryChunks.responses,
): Promise<boolean> {
  const stored = await tx.list(idempotencyAlsoShowing, [id], max);
  for (const row of stored) tx.update(idempotency, row, { response: null, also_shows: null });
  return stored.length < max;
}
