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
   * Whether the command claims rows. If claims lock rows, such a command shares a group only with
   * others of its kind. Claims lock rows in no fixed order, so a group that also waited for other
   * rows could deadlock.
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

/**
 * While callers' commands wait, this many commands of the engine run before each of them. A storage
 * whose claims lock rows needs round trips for each group, so a command that misses a group waits
 * longer. There, callers get every second turn.
 */
const backgroundTurns = { claimsMixed: 3, claimsSeparate: 1 } as const;

interface CommandQueueOptions {
  /** Whether commands that claim rows must not share a group with others. */
  readonly separatesClaims: boolean;
}

/**
 * The commands that wait. Those that must run again come first. The engine's own work comes before
 * callers' commands, since it completes what they began: under load, messages are delivered before
 * more are accepted, so few are under way at a time. Every fourth turn belongs to the callers, and
 * every second one where claims lock rows. There, every second group consists of commands that claim
 * rows, while both kinds wait.
 */
export class CommandQueue {
  readonly #separatesClaims: boolean;
  readonly #again: Member[] = [];
  readonly #claiming: Member[] = [];
  readonly #background: Member[] = [];
  readonly #callers: Member[] = [];
  /** How many of the engine's commands were taken since the last one of a caller. */
  #sinceCaller = 0;
  /** Whether the last group began with a command that claims rows. */
  #hasClaimed = false;

  constructor({ separatesClaims }: CommandQueueOptions) {
    this.#separatesClaims = separatesClaims;
  }

  get size(): number {
    const { length } = this.#again;
    return length + this.#claiming.length + this.#background.length + this.#callers.length;
  }

  /** The first command of the next group. */
  get first(): Member | undefined {
    return this.#nextList[0];
  }

  add(member: Member): void {
    if (this.#separatesClaims && member.claims) this.#claiming.push(member);
    else if (member.isBackground) this.#background.push(member);
    else this.#callers.push(member);
  }

  /** Adds commands that run again, in the order of arrival, so that a caller's stay in order. */
  addAgain(members: readonly Member[]): void {
    this.#again.push(...members);
    this.#again.sort((a, b) => a.place - b.place);
  }

  /** Takes up to `max` commands that may share a commit, each when the iterator asks for it. */
  *takeGroup(max: number): Generator<Member> {
    const { first } = this;
    if (first === undefined) return;
    this.#hasClaimed = first.claims;
    for (let taken = 0; taken < max; taken++) {
      const from = this.#next(first.claims);
      const [member] = from;
      if (member === undefined || (member.alone && taken > 0)) return;
      if (this.#separatesClaims && member.claims !== first.claims) return;
      from.shift();
      if (from === this.#background) this.#sinceCaller++;
      else if (from === this.#callers) this.#sinceCaller = 0;
      yield member;
      if (member.alone) return;
    }
  }

  /** The list from which the next group takes its first command. */
  get #nextList(): Member[] {
    const others = this.#next(false);
    if (this.#again.length > 0 || this.#claiming.length === 0) return others;
    return this.#hasClaimed && others.length > 0 ? others : this.#claiming;
  }

  /**
   * Returns the list from which a group takes its next command. `claims`: whether the commands of the
   * group claim rows.
   */
  #next(claims: boolean): Member[] {
    if (this.#again.length > 0) return this.#again;
    if (this.#separatesClaims && claims) return this.#claiming;
    if (this.#background.length === 0) return this.#callers;
    const turns = backgroundTurns[this.#separatesClaims ? "claimsSeparate" : "claimsMixed"];
    const isCallersTurn = this.#callers.length > 0 && this.#sinceCaller >= turns;
    return isCallersTurn ? this.#callers : this.#background;
  }
}
