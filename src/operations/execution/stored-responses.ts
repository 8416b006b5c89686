/**
 * The responses that are stored under idempotency keys: how they are made, replayed and erased, and
 * how long they are remembered.
 */
import { problem, ReplayedError, TidingsError, type Problem } from "../../kernel/index.ts";
import type { Tx } from "../../store/index.ts";
import type { Call, Command, Outcome } from "../operation.ts";
import { standardHistoryChunks, type Services } from "../runtime.ts";
import {
  idempotency,
  idempotencyAlsoShowing,
  idempotencyByKey,
  type IdempotencyRow,
} from "./rows.ts";

/** The result of a command under an idempotency key. */
export type CommandResult<Output> =
  | { readonly ok: true; readonly outcome: Outcome<Output> }
  | { readonly ok: false; readonly error: TidingsError };

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
 * Ends a run of a procedure whose key has a response. Held until the commit, so that a run changes
 * nothing after another run has answered.
 * @throws AnsweredMeanwhile
 */
export async function refuseIfAnswered(tx: Tx, key: string): Promise<void> {
  const claimed = await tx.get(idempotencyByKey, [key], { hold: true });
  if (claimed !== undefined && claimed.response !== null) {
    throw new AnsweredMeanwhile(claimed.status, claimed.response);
  }
}

type StoredColumns = Pick<IdempotencyRow, "status" | "response" | "subject_id" | "also_shows">;

export function storedResponse<Input, Output>(
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

export function storedProblem<Input>(
  command: Command<Input, unknown>,
  error: TidingsError,
  input: Input,
  call: Call,
): StoredColumns {
  const response = JSON.stringify(problem(error, call.request_id));
  return {
    status: error.status,
    response,
    subject_id: null,
    also_shows: command.shows(input, undefined, call),
  };
}

export function replay<Output>(row: IdempotencyRow, fingerprint: string): CommandResult<Output> {
  if (row.fingerprint !== fingerprint) {
    return { ok: false, error: keyReused() };
  }
  if (row.response === null) {
    return {
      ok: false,
      error: new TidingsError(
        "erased",
        "The resource that this request created has been erased or redacted.",
      ),
    };
  }
  if (row.status < 400) {
    const value = JSON.parse(row.response) as Output;
    return { ok: true, outcome: { status: row.status, value, body: row.response, replayed: true } };
  }
  const { code, detail, errors, conflicting_id } = JSON.parse(row.response) as Problem;
  const extras = {
    errors,
    ...(conflicting_id === undefined ? {} : { conflictingId: conflicting_id }),
  };
  return { ok: false, error: new ReplayedError(code, detail, extras, row.response) };
}

export function keyReused(): TidingsError {
  return new TidingsError(
    "idempotency_key_reused",
    "This idempotency key was already used with a different request. Use a new key.",
  );
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
