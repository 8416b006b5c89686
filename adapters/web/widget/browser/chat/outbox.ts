/**
 * The visitor's messages that the server has not confirmed. All tabs share them. They outlive a
 * reload.
 */
import { newKey } from "../../../shared/browser/connection/idempotency-keys.ts";
import type { Memory } from "../memory.ts";

/** A message that the visitor wrote. */
export interface Pending {
  /** Two requests with the same id create one message. */
  readonly client_id: string;
  readonly body: string;
  /** When the visitor wrote it, in milliseconds since the epoch. */
  readonly at: number;
  /**
   * The session in which it was sent without an answer. The server knows a repeated id only within
   * its session.
   */
  readonly sentIn?: string | undefined;
  /**
   * `sending`, `waiting`: it is sent as soon as possible. `failed`: the server refuses it.
   * `unconfirmed`: the session ended before an answer came, so the visitor decides.
   */
  readonly state: "sending" | "waiting" | "failed" | "unconfirmed";
}

/** How many messages may wait. The visitor can write more when some are sent. */
const maxPending = 20;

const prefix = "outbox:";

export class Outbox {
  readonly #memory: Memory;
  #items: readonly Pending[];

  constructor(memory: Memory) {
    this.#memory = memory;
    this.#items = memory.all<Pending>(prefix).toSorted(byTime);
  }

  get items(): readonly Pending[] {
    return this.#items;
  }

  get isFull(): boolean {
    return this.#items.length >= maxPending;
  }

  /** The item that is sent next. */
  get next(): Pending | undefined {
    return this.#items.find(({ state }) => state === "sending" || state === "waiting");
  }

  /** Returns the item as it is now. */
  find({ client_id }: Pick<Pending, "client_id">): Pending | undefined {
    return this.#items.find((each) => each.client_id === client_id);
  }

  /** Takes over what another tab has done to a stored value. Returns whether that is an item. */
  update(name: string): boolean {
    if (!name.startsWith(prefix)) return false;
    const item = this.#memory.recall<Pending>(name);
    const others = this.#items.filter(({ client_id }) => prefix + client_id !== name);
    this.#items = item === undefined ? others : [...others, item].toSorted(byTime);
    return true;
  }

  add(body: string): void {
    const last = this.#items.at(-1)?.at ?? 0;
    // The time also keeps the order, if two are written in one millisecond.
    const at = Math.max(Date.now(), last + 1);
    // What comes after a message that waits for a connection waits, too.
    const state = this.next?.state ?? "sending";
    const item: Pending = { client_id: newKey(), body, at, state };
    this.#items = [...this.#items, item];
    this.#memory.remember(prefix + item.client_id, item);
  }

  change(item: Pending, change: Partial<Pending>): void {
    const known = this.find(item);
    if (known === undefined) return;
    const changed = { ...known, ...change };
    this.#items = this.#items.map((each) => (each === known ? changed : each));
    this.#memory.remember(prefix + changed.client_id, changed);
  }

  remove({ client_id }: Pick<Pending, "client_id">): void {
    this.#items = this.#items.filter((each) => each.client_id !== client_id);
    this.#memory.remember(prefix + client_id, undefined);
  }
}

const byTime = (a: Pending, b: Pending): number => a.at - b.at;
