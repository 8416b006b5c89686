import * as z from "zod";
import {
  authorSchema,
  ids,
  modeSchema,
  type AccountId,
  type Mode,
  type Scope,
} from "../../kernel/index.ts";
import type {
  SignalFilter,
  Signals,
  SignalSubscription,
  TypingSignal,
} from "../../operations/index.ts";
import type { Clock, SignalLine, StoragePort } from "../../ports/index.ts";
import { Subscribers } from "./subscribers.ts";

/** How long a signal lasts, in milliseconds. Who types repeats it every 3 seconds. */
const lastsMs = 6_000;
/** Signals that may wait in one subscription. Later ones are dropped. */
const maxWaiting = 100;

interface Waiting {
  readonly signal: TypingSignal;
  /** When it came, by the monotonic clock. */
  readonly at: number;
}

interface Subscriber {
  readonly wake: () => void;
  /** By conversation and author: a newer signal replaces an older one. */
  readonly waiting: Map<string, Waiting>;
}

/** What one engine sends to the others. */
const messageSchema: z.ZodType<readonly [AccountId, Mode, TypingSignal]> = z.tuple([
  ids.account,
  modeSchema,
  z.object({
    conversation_id: ids.conversation,
    contact_id: ids.contact,
    author: authorSchema,
    author_name: z.string().nullable(),
  }),
]);

/**
 * Hands signals to the streams that want them, here and in the other engines of the storage. A
 * signal costs only the streams that it matches.
 */
export class LiveSignals implements Signals {
  readonly #clock: Clock;
  readonly #subscribers = new Subscribers<Subscriber>();
  #line: SignalLine | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Connects to the other engines of an open storage, if the storage can. */
  connect(storage: Pick<StoragePort, "signals">): void {
    this.#line = storage.signals?.((text) => this.#receive(text));
  }

  disconnect(): void {
    this.#line?.leave();
    this.#line = undefined;
  }

  publish(scope: Scope, signal: TypingSignal): void {
    this.#passOn(scope, signal);
    this.#line?.send(JSON.stringify([scope.account_id, scope.mode, signal]));
  }

  subscribe(scope: Scope, filter: SignalFilter, wake: () => void): SignalSubscription {
    const topic = topicOf(scope, filter);
    const subscriber: Subscriber = { wake, waiting: new Map() };
    this.#subscribers.add(topic, subscriber);
    return {
      take: () => this.#take(subscriber),
      leave: () => this.#subscribers.remove(topic, subscriber),
    };
  }

  #take({ waiting }: Subscriber): readonly TypingSignal[] {
    if (waiting.size === 0) return [];
    const oldest = this.#clock.monotonic() - lastsMs;
    const lasting = [...waiting.values()].filter(({ at }) => at > oldest);
    waiting.clear();
    return lasting.map(({ signal }) => signal);
  }

  /** Ignores what it does not understand: the other engine may have another version. */
  #receive(text: string): void {
    const { data } = messageSchema.safeParse(parsed(text));
    if (data === undefined) return;
    const [account_id, mode, signal] = data;
    this.#passOn({ account_id, mode }, signal);
  }

  #passOn(scope: Scope, signal: TypingSignal): void {
    const { conversation_id, contact_id, author } = signal;
    const topics = [
      topicOf(scope, {}),
      topicOf(scope, { conversation_id }),
      ...(author.type === "contact" ? [] : [topicOf(scope, { contact_id })]),
    ];
    const key = JSON.stringify([conversation_id, author.type, author.id]);
    const waiting: Waiting = { signal, at: this.#clock.monotonic() };
    for (const topic of topics) {
      for (const subscriber of this.#subscribers.of(topic)) {
        if (subscriber.waiting.size >= maxWaiting && !subscriber.waiting.has(key)) continue;
        subscriber.waiting.set(key, waiting);
        subscriber.wake();
      }
    }
  }
}

function topicOf({ account_id, mode }: Scope, filter: SignalFilter): string {
  const [kind, id] =
    "contact_id" in filter
      ? ["contact", filter.contact_id]
      : ["conversation", filter.conversation_id ?? null];
  return JSON.stringify([account_id, mode, kind, id]);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
