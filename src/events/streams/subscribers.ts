import { getOrInsert } from "../../kernel/index.ts";

/** Subscribers by topic. A topic without subscribers takes no memory. */
export class Subscribers<S> {
  readonly #byTopic = new Map<string, Set<S>>();

  /** Whether no topic has subscribers. */
  get isEmpty(): boolean {
    return this.#byTopic.size === 0;
  }

  /** The topics that have subscribers. */
  topics(): Iterable<string> {
    return this.#byTopic.keys();
  }

  /** The subscribers of a topic. */
  of(topic: string): Iterable<S> {
    return this.#byTopic.get(topic) ?? [];
  }

  add(topic: string, subscriber: S): void {
    getOrInsert(this.#byTopic, topic, () => new Set()).add(subscriber);
  }

  /** Removes a subscriber of a topic. Repeated calls have no effect. */
  remove(topic: string, subscriber: S): void {
    const subscribers = this.#byTopic.get(topic);
    if (subscribers === undefined) return;
    subscribers.delete(subscriber);
    if (subscribers.size === 0) this.#byTopic.delete(topic);
  }
}
