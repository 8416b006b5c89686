import type { Begun, UnscopedTx } from "./transaction.ts";

/** A command that waits for its commit. */
export interface Member {
  readonly work: (tx: UnscopedTx) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Its position in the order of arrival. */
  readonly place: number;
  /** Whether it is the engine's own work, such as a job. */
  readonly isBackground: boolean;
  /**
   * Whether the command claims rows. If groups write concurrently, such a command shares a group
   * only with others of its kind. Claims lock rows in no fixed order, so a group that also waited
   * for other rows could deadlock.
   */
  readonly claims: boolean;
  /** How many runs of the command met a conflict. */
  conflicts: number;
  /**
   * Whether the command commits in a group of its own, so that its failure and those of other
   * commands do not affect each other.
   */
  alone: boolean;
  /** The work that began in the last run of the command. It goes on after the commit. */
  begun: Begun | undefined;
}

/** While callers' commands wait, this many commands of the engine run before each of them. */
const backgroundTurns = 3;

/**
 * The commands that wait. Those that must run again come first. If commands take turns, the
 * engine's own work comes before callers' commands, since it completes what they began: under load,
 * messages are delivered before more are accepted, so few are under way at a time. Every fourth
 * turn belongs to the callers. Otherwise all commands run in the order of their arrival. Commands
 * that claim rows share no group with others, so turns would make the groups tiny.
 */
export class CommandQueue {
  readonly #takesTurns: boolean;
  readonly #again: Member[] = [];
  readonly #background: Member[] = [];
  readonly #callers: Member[] = [];
  /** How many of the engine's commands were taken since the last one of a caller. */
  #sinceCaller = 0;

  constructor({ takesTurns }: { readonly takesTurns: boolean }) {
    this.#takesTurns = takesTurns;
  }

  get size(): number {
    return this.#again.length + this.#background.length + this.#callers.length;
  }

  /** The command that `take` returns. */
  get first(): Member | undefined {
    return this.#next[0];
  }

  add(member: Member): void {
    (member.isBackground ? this.#background : this.#callers).push(member);
  }

  take(): Member | undefined {
    const from = this.#next;
    if (from === this.#background) this.#sinceCaller++;
    else if (from === this.#callers) this.#sinceCaller = 0;
    return from.shift();
  }

  /** Adds commands that run again, in the order of arrival, so that a caller's stay in order. */
  addAgain(members: readonly Member[]): void {
    this.#again.push(...members);
    this.#again.sort((a, b) => a.place - b.place);
  }

  get #next(): Member[] {
    if (this.#again.length > 0) return this.#again;
    const [background] = this.#background;
    const [caller] = this.#callers;
    if (background === undefined) return this.#callers;
    if (caller === undefined) return this.#background;
    const isCallersTurn = this.#takesTurns
      ? this.#sinceCaller >= backgroundTurns
      : caller.place < background.place;
    return isCallersTurn ? this.#callers : this.#background;
  }
}
