/** Calls of the host application to its engines, and their outcomes. */
import { hourMs, memberOf, minuteMs, TidingsError } from "../../../src/kernel/index.ts";
import type { MessagingEngine } from "../../entry.ts";
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
  /**
   * How long to wait for the answer, in virtual milliseconds.
   * @default 300000 (5 minutes)
   */
  readonly withinMs?: number | undefined;
}

/** An engine that is up. */
export interface UpEngine<Tx extends object | undefined = object | undefined> {
  /** Its name. */
  readonly name: string;
  /** The run of its process. */
  readonly run: EngineRun;
  /** The engine. */
  readonly engine: MessagingEngine<Tx>;
}

/** A call that waits for an engine or for its answer. */
export interface OpenCall {
  /** Its name in the story. */
  readonly text: string | undefined;
  /** Undefined while it waits for an engine that is up. */
  run: EngineRun | undefined;
}

/** How long a call may take by default. */
const defaultCallMs = 5 * minuteMs;
/** How long `run` waits for an engine that is up. */
const maxDownMs = hourMs;

/** Makes the calls of the host application. */
export class HostCalls<Tx extends object | undefined> {
  readonly #context: WorldContext;
  readonly #whenUp: (name?: string) => Promise<UpEngine<Tx>>;
  readonly #open = new Set<OpenCall>();

  constructor(context: WorldContext, whenUp: (name?: string) => Promise<UpEngine<Tx>>) {
    this.#context = context;
    this.#whenUp = whenUp;
  }

  get open(): ReadonlySet<OpenCall> {
    return this.#open;
  }

  async begin<T>(code: HostCode<T, Tx>, options: CallOptions): Promise<CallOutcome<T>> {
    const { withinMs = defaultCallMs, as: text } = options;
    const { story } = this.#context;
    const call: OpenCall = { text, run: undefined };
    this.#open.add(call);
    try {
      const { name, engine, run } = await this.#whenUp(options.engine);
      call.run = run;
      if (text !== undefined) story.note([], `${text}, on ${name}`);
      const answer = (async () => code(engine))();
      const outcome = await this.#outcomeOf(answer, run, withinMs);
      if (text !== undefined) story.note([], `${text}: ${describeOutcome(outcome)}`);
      return outcome;
    } finally {
      this.#open.delete(call);
    }
  }

  async run<T>(code: HostCode<T, Tx>, options: CallOptions): Promise<T> {
    const { withinMs = defaultCallMs } = options;
    const call = () => this.begin(code, options);
    const known = await this.#context.clock.run(call, maxDownMs + withinMs + 1);
    if (known.outcome === "done") return known.value;
    if (known.outcome === "refused") throw known.error;
    const { why, error } = known;
    throw (
      error ??
      new Error(
        `The outcome of the call is unknown: ${why}. \`begin\` returns that instead of throwing.`,
      )
    );
  }

  /** Waits for the answer to a call, but not longer than the process lives or `withinMs`. */
  async #outcomeOf<T>(
    answer: Promise<T>,
    { name, ended }: EngineRun,
    withinMs: number,
  ): Promise<CallOutcome<T>> {
    const unknown = (why: string) => (): CallOutcome<T> => ({ outcome: "unknown", why });
    const timer = new AbortController();
    const outcome = await Promise.race([
      answer.then(
        (value): CallOutcome<T> => ({ outcome: "done", value }),
        (error: unknown): CallOutcome<T> => failed(name, error),
      ),
      ended.then(unknown(`${name} ended before it answered`)),
      this.#context.clock
        .sleep(withinMs, timer.signal)
        .then(unknown(`no answer from ${name} in ${withinMs} ms`)),
    ]);
    timer.abort("answered");
    return outcome;
  }
}

function failed(name: string, thrown: unknown): RefusedCall | UnknownCall {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  if (!(error instanceof TidingsError)) {
    const why = `${error.name}: ${error.message} in the process of ${name}`;
    return { outcome: "unknown", why, error };
  }
  // All other errors come from checks before the commit, so nothing was changed.
  if (error.retryable || error.status === 503) {
    return { outcome: "unknown", why: `${error.status} ${error.code} from ${name}`, error };
  }
  return { outcome: "refused", error };
}

/** Describes what the host application learned: the resource's id, or the status and code. */
function describeOutcome(outcome: CallOutcome<unknown>): string {
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
