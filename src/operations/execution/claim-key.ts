/**
 * Claims idempotency keys. A command claims its key, writes its data and stores its response in one
 * transaction, so it is never half done under a key. If two requests with one key race, one
 * commits. The other runs again, finds the stored response and returns it. A procedure claims its
 * key before its first step.
 */
import { hourMs, TidingsError } from "../../kernel/index.ts";
import type { Tx } from "../../store/index.ts";
import type { Call, Command, Procedure } from "../operation.ts";
import { idempotency, idempotencyByKey, type IdempotencyRow } from "./rows.ts";
import {
  isRemembered,
  keyReused,
  refuseIfAnswered,
  replay,
  storedProblem,
  storedResponse,
  type CommandResult,
} from "./stored-responses.ts";

/** The idempotency key that an operation claims. */
export interface KeyClaim {
  readonly key: string;
  /** See `fingerprint.ts`. */
  readonly fingerprint: string;
  /** How long the key is remembered, in hours. */
  readonly idempotencyHours: number;
}

/** The claim of a command, with the error of its check if the input is invalid. */
interface CommandClaim extends KeyClaim {
  readonly refusal: TidingsError | undefined;
}

/** Runs a command under its idempotency key, or replays the response that is stored for it. */
export async function runUnderKey<Input, Output>(
  tx: Tx,
  command: Command<Input, Output>,
  input: Input,
  call: Call,
  claim: CommandClaim,
): Promise<CommandResult<Output>> {
  const { key, fingerprint, refusal } = claim;
  const before = await tx.get(idempotencyByKey, [key]);
  if (before !== undefined) {
    if (await isRemembered(tx, before, call.services)) return replay(before, fingerprint);
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
