import {
  type Message,
  type MessagingEngine,
  type SendMessage,
  TidingsError,
} from "../../adapters/entry.ts";
import type { World } from "./world.ts";

/** What a client asked for, and what it was answered: its own record, kept outside the engines. */
export interface Order {
  readonly number: number;
  readonly key: string | null;
  readonly input: SendMessage;
  /** Steps of the trace at which it was begun and first answered. */
  readonly begun: number;
  acknowledged: number | null;
  /** The first answer. */
  message: Message | undefined;
  refusal: string | null;
  /** It got no answer and asks no more: it is done or it is not. */
  unknown: boolean;
  cancel: "none" | "asked" | "acknowledged" | "refused" | "unknown";
  redaction: "none" | "asked" | "acknowledged" | "refused";
  /** Edits in the order in which they were made; one at a time. */
  readonly edits: Edit[];
}

export interface Edit {
  readonly body?: string;
  readonly send_at?: string;
  state: "asked" | "acknowledged" | "refused";
}

/** `unknown`: the answer was lost, came too late, or says itself that nobody knows. */
export type Answer<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "refused"; readonly code: string }
  | { readonly kind: "unknown" };

export class Clients {
  readonly orders: Order[] = [];
  /** Inbound messages whose redaction was acknowledged, by id. */
  readonly redactedInbound = new Set<string>();
  /** Those whose redaction was refused, of which an earlier request that was not answered may yet be done. */
  readonly perhapsRedacted = new Set<string>();
  /** Requests whose clients go on asking until they are answered. */
  open = 0;
  readonly #world: World;
  #keys = 0;

  constructor(world: World) {
    this.#world = world;
  }

  order(input: SendMessage, key: string | null): Order {
    const order: Order = {
      number: this.orders.length + 1,
      key,
      input,
      begun: this.#world.trace.entries.length,
      acknowledged: null,
      message: undefined,
      refusal: null,
      unknown: false,
      cancel: "none",
      redaction: "none",
      edits: [],
    };
    this.orders.push(order);
    return order;
  }

  drawKey(): string {
    return `key-${++this.#keys}`;
  }

  /** Notes an answer to an order. Whoever asks under one key twice is answered the same. */
  answered(order: Order, message: Message): void {
    if (order.message === undefined) {
      order.message = message;
      order.acknowledged = this.#world.trace.entries.length;
      this.#world.trace.note(
        [message.id, message.conversation_id],
        `client: order ${order.number} is message ${message.id}`,
      );
    } else if (JSON.stringify(order.message) !== JSON.stringify(message)) {
      const says = `order ${order.number} was answered twice under key ${order.key ?? "none"}, and not the same`;
      this.#world.accuse("one key, one answer", [order.message.id, message.id], says);
    }
  }

  refused(order: Order, code: string): void {
    const isForgotten = order.redaction !== "none" || this.#isErased(order.message);
    if (order.message !== undefined && !(code === "erased" && isForgotten)) {
      const says = `order ${order.number} was taken and then, under the same key, refused as ${code}`;
      this.#world.accuse("one key, one answer", [order.message.id], says);
    }
    order.refusal = code;
  }

  #isErased(message: Message | undefined): boolean {
    return message !== undefined && this.#world.registry.isErased(message.contact_id);
  }

  /** Asks one engine once. */
  async ask<T>(work: (engine: MessagingEngine) => Promise<T>): Promise<Answer<T>> {
    const { clock, dice, faults } = this.#world;
    const { host, engine } = await this.#world.running();
    const answer = this.#answer(host.name, work(engine));
    if (this.#world.healing) {
      return Promise.race([answer, host.life.died.then((): Answer<T> => ({ kind: "unknown" }))]);
    }
    const patience = dice.chance(faults.clientImpatient) ? dice.between(50, 2_000) : 30_000;
    const hangUp = new AbortController();
    const lost = Promise.race([host.life.died, clock.sleep(patience, hangUp.signal)]).then(
      (): Answer<T> => ({
        kind: "unknown",
      }),
    );
    const first = await Promise.race([answer, lost]);
    hangUp.abort("answered");
    return first;
  }

  /** Asks, under a key, one engine after the other until there is an answer. */
  async persist<T>(
    work: (engine: MessagingEngine) => Promise<T>,
  ): Promise<Exclude<Answer<T>, { kind: "unknown" }>> {
    const { clock, dice } = this.#world;
    this.open++;
    for (;;) {
      const answer = await this.ask(work);
      if (answer.kind !== "unknown") {
        this.open--;
        return answer;
      }
      await clock.sleep(dice.between(10, 3_000));
    }
  }

  #answer<T>(host: string, answer: Promise<T>): Promise<Answer<T>> {
    return answer.then(
      (value): Answer<T> => ({ kind: "done", value }),
      (error: unknown): Answer<T> => this.#failed(host, error),
    );
  }

  #failed(host: string, error: unknown): Answer<never> {
    if (error instanceof TidingsError && (error.retryable || error.status >= 500)) {
      return { kind: "unknown" };
    }
    if (error instanceof TidingsError) return { kind: "refused", code: error.code };
    const told = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    this.#world.accuse("no surprises", [host], `${host} threw what is no answer: ${told}`);
    return { kind: "unknown" };
  }
}
