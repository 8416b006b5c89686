/** Calls of the host application to its engines, and their outcomes. */
import type { MessagingEngine } from "../../entry.ts";
import { memberOf, TidingsError } from "../../../src/kernel/index.ts";
import type { EngineRun } from "./engine-run.ts";
import type { WorldContext } from "./run-context.ts";

/** The host application got the result. */
export interface DoneCall<T> {
  /** The host application got the result. */
  readonly outcome: "done";
  /** The result. */
  readonly value: T;
}

/** The call failed, and nothing was changed. */
export interface RefusedCall {
  /** The call failed, and nothing was changed. */
  readonly outcome: "refused";
  /** The error. */
  readonly error: TidingsError;
}

/** The host application cannot know whether the call took effect. */
export interface UnknownCall {
  /** The process crashed, the answer was lost or came too late, or the code threw an error. */
  readonly outcome: "unknown";
  /** The reason, as the end of a sentence. */
  readonly why: string;
  /** The error, if there was one. */
  readonly error?: Error;
}

/** What the host application learned of a call. */
export type CallOutcome<T> = DoneCall<T> | RefusedCall | UnknownCall;

/** Code of the host application that runs in the process of an engine. */
export type HostCode<T, Tx extends object | undefined> = (
  engine: MessagingEngine<Tx>,
) => Promise<T>;

/** Options of a call. */
export interface CallOptions {
  /** Its name in the story, such as "cancel order 7". Default: the story leaves it out. */
  readonly as?: string | undefined;
  /** The engine in whose process it runs. Default: one that is up, chosen by the seed. */
  readonly engine?: string | undefined;
  /** How long to wait for the answer, in virtual milliseconds. Default: 5 minutes. */
  readonly withinMs?: number | undefined;
}

/** How long a call may take by default. */
export const defaultCallMs = 300_000;

/** Waits for the answer to a call, but not longer than the process lives or `withinMs`. */
export async function awaitAnswer<T>(
  { clock }: WorldContext,
  run: EngineRun,
  answer: Promise<T>,
  withinMs: number,
): Promise<CallOutcome<T>> {
  const { name } = run;
  const unknown = (why: string) => (): CallOutcome<T> => ({ outcome: "unknown", why });
  const timer = new AbortController();
  const gone = run.ended.then(unknown(`${name} ended before it answered`));
  const late = clock
    .sleep(withinMs, timer.signal)
    .then(unknown(`no answer from ${name} in ${withinMs} ms`));
  const outcome = await Promise.race([
    answer.then(
      (value): CallOutcome<T> => ({ outcome: "done", value }),
      (error: unknown): CallOutcome<T> => failed(name, error),
    ),
    gone,
    late,
  ]);
  timer.abort("answered");
  return outcome;
}

function failed(name: string, thrown: unknown): RefusedCall | UnknownCall {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  if (!(error instanceof TidingsError)) {
    const why = `${error.name}: ${error.message} in the process of ${name}`;
    return { outcome: "unknown", why, error };
  }
  if (error.retryable || error.status >= 500) {
    return { outcome: "unknown", why: `${error.status} ${error.code} from ${name}`, error };
  }
  return { outcome: "refused", error };
}

/** Describes what the host application learned: the resource's id, or the status and code. */
export function describeOutcome(outcome: CallOutcome<unknown>): string {
  switch (outcome.outcome) {
    case "done": {
      const id = memberOf(outcome.value, "id");
      return typeof id === "string" ? `done, ${id}` : "done";
    }
    case "refused":
      return `refused, ${outcome.error.status} ${outcome.error.code}`;
    case "unknown":
      return `unknown, ${outcome.why}`;
  }
}
