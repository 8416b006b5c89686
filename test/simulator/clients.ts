import {
  TidingsError,
  type Message,
  type MessagingEngine,
  type SendMessage,
} from "../../adapters/entry.ts";
import type { UnknownCall } from "../../adapters/testing/index.ts";
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
  | { readonly kind: "refused"; readonly status: number; readonly code: string }
  | { readonly kind: "unknown"; readonly why: string };

/** What the client was told, for the trace: the resource's id, or the status and code. */
export function told(answer: Answer<unknown>): string {
  switch (answer.kind) {
    case "done": {
      const { value } = answer;
      const id = typeof value === "object" && value !== null ? Reflect.get(value, "id") : undefined;
      return typeof id === "string" ? `done, ${id}` : "done";
    }
    case "refused":
      return `refused, ${answer.status} ${answer.code}`;
    case "unknown":
      return `unknown, ${answer.why}`;
  }
}

/** API clients of the host application, with a record of what they asked and were answered. */
export class Clients {
  readonly requests: SendRequest[] = [];
  /** Ids of inbound messages whose redaction was acknowledged. */
  readonly redactedInbound = new Set<string>();
  /** Ids of inbound messages whose redaction was refused. An earlier try may still commit. */
  readonly perhapsRedacted = new Set<string>();
  /** The number of clients that retry until they are answered, and of streams that open. */
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
    this.noteAnswer(request, { kind: "done", value: message });
    if (request.message === undefined) {
      request.message = message;
      request.acknowledgedAt = this.#world.trace.entries.length;
    } else if (JSON.stringify(request.message) !== JSON.stringify(message)) {
      this.#world.report(
        laws.sameAnswerPerKey,
        [request.message.id, message.id],
        `send ${request.number} got two different answers under key ${request.key ?? "none"}`,
      );
    }
  }

  recordRefusal(
    request: SendRequest,
    { status, code }: { readonly status: number; readonly code: string },
  ): void {
    this.noteAnswer(request, { kind: "refused", status, code });
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

  /** Notes an answer in the trace of the message, or of the recipient if there is none. */
  noteAnswer({ number, input, message }: SendRequest, answer: Answer<Message>): void {
    const about = answer.kind === "done" ? answer.value : message;
    this.#world.trace.note(
      about === undefined ? [input.to ?? ""] : [about.id, about.conversation_id],
      `client: send ${number}: ${told(answer)}`,
    );
  }

  #isErased(message: Message | undefined): boolean {
    return message !== undefined && this.#world.history.isErased(message.contact_id);
  }

  /** Sends a request to a running engine once. */
  async ask<T>(work: (engine: MessagingEngine) => Promise<T>): Promise<Answer<T>> {
    const { dice, faults, faultsStopped, engines, coverage } = this.#world;
    const isImpatient = dice.chance(faults.clientImpatient);
    const timeoutMs = isImpatient ? dice.between(50, 2_000) : 30_000;
    const answer = await engines.begin((engine) => coverage.during(engine, work, isImpatient), {
      withinMs: faultsStopped ? Infinity : timeoutMs,
    });
    switch (answer.outcome) {
      case "done":
        return { kind: "done", value: answer.value };
      case "refused":
        return { kind: "refused", status: answer.error.status, code: answer.error.code };
      case "unknown":
        this.#checkError(answer);
        return { kind: "unknown", why: answer.why };
    }
  }

  /**
   * Sends a request to one engine after another until there is an answer. Tries without an answer
   * are noted in the trace of the resources that the request is `about`.
   */
  async askUntilAnswered<T>(
    work: (engine: MessagingEngine) => Promise<T>,
    about: readonly string[] = [],
  ): Promise<Exclude<Answer<T>, { kind: "unknown" }>> {
    const { clock, dice } = this.#world;
    this.waiting++;
    for (;;) {
      const answer = await this.ask(work);
      if (answer.kind !== "unknown") {
        this.waiting--;
        return answer;
      }
      if (about.length > 0) this.#world.trace.note(about, `client: ${told(answer)}; tries again`);
      await clock.sleep(dice.between(10, 3_000));
    }
  }

  #checkError({ why, error }: UnknownCall): void {
    if (error === undefined || error instanceof TidingsError) return;
    this.#world.report(
      laws.noUnexpectedErrors,
      [],
      `an engine threw an error that is no API error: ${why}`,
    );
  }
}
