import {
  type Message,
  type MessagingEngine,
  type SendMessage,
  TidingsError,
} from "../../adapters/entry.ts";
import { laws } from "./invariant.ts";
import type { World } from "./world.ts";

/** A send request and its answers, as the client recorded them. Engines cannot change it. */
export interface SendRequest {
  readonly number: number;
  readonly key: string | null;
  readonly input: SendMessage;
  /** The length of the trace when the request was made, and when it was first answered. */
  readonly startedAt: number;
  acknowledgedAt: number | null;
  /** The first answer. */
  message: Message | undefined;
  refusal: string | null;
  /** The client got no answer and gave up, so the message may or may not exist. */
  unknown: boolean;
  cancel: "none" | "requested" | "acknowledged" | "refused" | "unknown";
  redaction: "none" | "requested" | "acknowledged" | "refused";
  /** In the order in which they were made. There is one edit at a time. */
  readonly edits: Edit[];
}

export interface Edit {
  readonly body?: string;
  readonly send_at?: string;
  state: "requested" | "acknowledged" | "refused";
}

/** `unknown`: the answer was lost, came too late, or reports an unknown outcome. */
export type Answer<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "refused"; readonly code: string }
  | { readonly kind: "unknown" };

/** API clients of the host application, with a record of what they asked and were answered. */
export class Clients {
  readonly requests: SendRequest[] = [];
  /** Ids of inbound messages whose redaction was acknowledged. */
  readonly redactedInbound = new Set<string>();
  /** Ids of inbound messages whose redaction was refused. An earlier try may still commit. */
  readonly perhapsRedacted = new Set<string>();
  /** The number of clients that retry until they are answered. */
  waiting = 0;
  readonly #world: World;
  #keys = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Records a new send request. */
  record(input: SendMessage, key: string | null): SendRequest {
    const request: SendRequest = {
      number: this.requests.length + 1,
      key,
      input,
      startedAt: this.#world.trace.entries.length,
      acknowledgedAt: null,
      message: undefined,
      refusal: null,
      unknown: false,
      cancel: "none",
      redaction: "none",
      edits: [],
    };
    this.requests.push(request);
    return request;
  }

  nextKey(): string {
    return `key-${++this.#keys}`;
  }

  /** Records an answer. A second answer under the same key must equal the first. */
  recordAnswer(request: SendRequest, message: Message): void {
    if (request.message === undefined) {
      request.message = message;
      request.acknowledgedAt = this.#world.trace.entries.length;
      this.#world.trace.note(
        [message.id, message.conversation_id],
        `client: send ${request.number} is message ${message.id}`,
      );
    } else if (JSON.stringify(request.message) !== JSON.stringify(message)) {
      this.#world.report(
        laws.sameAnswerPerKey,
        [request.message.id, message.id],
        `send ${request.number} got two different answers under key ${request.key ?? "none"}`,
      );
    }
  }

  recordRefusal(request: SendRequest, code: string): void {
    const isForgotten = request.redaction !== "none" || this.#isErased(request.message);
    if (request.message !== undefined && !(code === "erased" && isForgotten)) {
      this.#world.report(
        laws.sameAnswerPerKey,
        [request.message.id],
        `send ${request.number} was acknowledged, and then refused as ${code} under the same key`,
      );
    }
    request.refusal = code;
  }

  #isErased(message: Message | undefined): boolean {
    return message !== undefined && this.#world.history.isErased(message.contact_id);
  }

  /** Sends a request to a running engine once. */
  async ask<T>(work: (engine: MessagingEngine) => Promise<T>): Promise<Answer<T>> {
    const { clock, dice, faults } = this.#world;
    const { engineProcess, engine } = await this.#world.running();
    const answer = this.#answer(engineProcess.name, work(engine));
    const unknown = (): Answer<T> => ({ kind: "unknown" });
    const { ended } = engineProcess.lifetime;
    if (this.#world.faultsStopped) return Promise.race([answer, ended.then(unknown)]);
    const timeoutMs = dice.chance(faults.clientImpatient) ? dice.between(50, 2_000) : 30_000;
    const timer = new AbortController();
    const lost = Promise.race([ended, clock.sleep(timeoutMs, timer.signal)]).then(unknown);
    const first = await Promise.race([answer, lost]);
    timer.abort("answered");
    return first;
  }

  /** Sends a request to one engine after another until there is an answer. */
  async askUntilAnswered<T>(
    work: (engine: MessagingEngine) => Promise<T>,
  ): Promise<Exclude<Answer<T>, { kind: "unknown" }>> {
    const { clock, dice } = this.#world;
    this.waiting++;
    for (;;) {
      const answer = await this.ask(work);
      if (answer.kind !== "unknown") {
        this.waiting--;
        return answer;
      }
      await clock.sleep(dice.between(10, 3_000));
    }
  }

  #answer<T>(engine: string, answer: Promise<T>): Promise<Answer<T>> {
    return answer.then(
      (value): Answer<T> => ({ kind: "done", value }),
      (error: unknown): Answer<T> => this.#failed(engine, error),
    );
  }

  #failed(engine: string, error: unknown): Answer<never> {
    if (error instanceof TidingsError && (error.retryable || error.status >= 500)) {
      return { kind: "unknown" };
    }
    if (error instanceof TidingsError) return { kind: "refused", code: error.code };
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    this.#world.report(
      laws.noUnexpectedErrors,
      [engine],
      `${engine} threw an error that is no API error: ${text}`,
    );
    return { kind: "unknown" };
  }
}
