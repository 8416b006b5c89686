import { TidingsError } from "../kernel/index.ts";
import {
  type Clock,
  type Group,
  type Lookup,
  StorageConflict,
  type StoragePort,
  StorageRefusal,
  type Write,
} from "../ports/index.ts";
import { Bodies } from "./bodies.ts";
import { BufferedTx } from "./buffered-tx.ts";
import { Overlay } from "./overlay.ts";
import { GroupSnapshot } from "./snapshot.ts";
import type { Projection, UnscopedTx } from "./transaction.ts";

/** A command that waits for its commit. */
export interface Member {
  readonly work: (tx: UnscopedTx) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Its place among all that came. */
  readonly place: number;
  /**
   * It claims rows. Where several groups write at once, those that do keep to themselves: what is claimed is locked out of
   * order, and a group that waited for other rows meanwhile could wait in a circle.
   */
  readonly claims: boolean;
  /** How often it has been run in vain. */
  conflicts: number;
  /** Commits by itself, so that it can't fail others nor others fail it. */
  alone: boolean;
}

export interface CommitterOptions {
  readonly port: Pick<StoragePort, "begin" | "turn" | "capabilities">;
  readonly clock: Clock;
  /** What a new row's version begins with. */
  readonly firstVersion: () => number;
  readonly projection: Projection | undefined;
  /** Told of each commit, before it is answered. */
  readonly committed: (writes: readonly Write[]) => void;
  /** Takes back members that are to be run again. */
  readonly again: (members: readonly Member[]) => void;
}

type Result =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

/** How many commands share a commit, and for how long a group gathers them. More would make the first ones wait. */
const groupSize = 128;
const groupMs = 8;
/** Half of so many that wait are enough for a commit of their own. */
const enoughToShare = 32;
export const mostConflicts = 8;

/** What the bodies of a group came to. */
interface Flight {
  readonly members: readonly Member[];
  readonly results: readonly Result[];
  readonly overlay: Overlay;
}

/** What a body did by itself, and what it rests on. */
interface Guess {
  readonly result: Result;
  readonly overlay: Overlay;
  readonly lookups: readonly Lookup[];
}

/**
 * Commits groups of commands, one group after the other; while one commits, the bodies of the next run ahead over what it writes.
 *
 * A group is as if its bodies ran one after the other, each over what the earlier ones wrote. Then everything is written at once, and
 * only when that is durable is anybody answered: a value or a rejection may rest on what an earlier member wrote, and that
 * must not be undone behind its back. When the commit meets a conflict, every member runs again, and now keeps others out; when it does so
 * twice, or the storage refuses a write for good, the members run singly, so that one can't keep failing the rest.
 */
export class Committer {
  readonly #options: CommitterOptions;
  readonly #bodies: Bodies;
  /** The writes of the group whose commit is under way, and whether it succeeded. */
  #ahead: { readonly overlay: Overlay; readonly landed: Promise<boolean> } | undefined;
  /** Whether the last commit went on by itself. */
  #flies = false;
  /** What was read by those that are to run again: asked for at once next time. */
  #warm: readonly Lookup[] = [];

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#bodies = new Bodies(() => options.port.turn());
  }

  /**
   * Takes members from the head of `queue`, and answers them or gives them back to run again. Resolves when the next group can
   * begin. Never rejects.
   */
  async runGroup(queue: Member[]): Promise<void> {
    const { port, again } = this.#options;
    const exclusive = (queue[0]?.conflicts ?? 0) > 0;
    // Nothing may wait for what keeps others out, or rows to itself, but waits itself.
    if (exclusive || queue[0]?.claims === true) await this.idle();
    const ahead = this.#ahead;
    const members: Member[] = [];
    const lookups: Lookup[] = [];
    let group: Group | undefined;
    try {
      group = port.begin(exclusive ? "exclusive" : "shared");
      const snapshot = new GroupSnapshot({ group, ahead: ahead?.overlay, port });
      if (exclusive && this.#warm.length > 0) await snapshot.warm(this.#warm);
      const flight = await this.#runBodies(queue, members, snapshot, lookups);
      if (ahead !== undefined && !(await ahead.landed)) {
        // What it was laid over came to nothing.
        await group.abort();
        again(members);
        return;
      }
      const writes = flight.overlay.writes();
      const committing = writes.length > 0 ? group.commit(writes) : group.abort();
      this.#flies = committing instanceof Promise;
      if (committing instanceof Promise) this.#fly(flight, writes, committing, group, lookups);
      else this.#land(flight, writes);
    } catch (error) {
      await group?.abort();
      await ahead?.landed;
      if (members.length === 0) {
        members.push(...takeGroup(queue, port.capabilities.synchronous, groupSize));
      }
      this.#runAgain(members, error, lookups);
    }
  }

  /** Resolves when no commit is under way. */
  async idle(): Promise<void> {
    await this.#ahead?.landed;
  }

  /** Takes members and runs their bodies. Throws when the storage can't be read, which is nobody's outcome. */
  async #runBodies(
    queue: Member[],
    members: Member[],
    snapshot: GroupSnapshot,
    lookups: Lookup[],
  ): Promise<Flight> {
    const { port, clock } = this.#options;
    const overlay = new Overlay();
    const results: Result[] = [];
    const { synchronous } = port.capabilities;
    if (synchronous) {
      const began = clock.now();
      for (const member of takeGroup(queue, synchronous, this.#share(queue.length))) {
        members.push(member);
        results.push(await this.#run(member, snapshot, overlay));
        if (clock.now() - began >= groupMs) break;
      }
    } else {
      members.push(...takeGroup(queue, synchronous, groupSize));
      const guesses = await Promise.all(
        members.map((member) => this.#body(member, snapshot, new Overlay())),
      );
      lookups.push(...guesses.flatMap((guess) => guess.lookups));
      for (const guess of guesses) throwIfUnread(guess.result);
      for (const [i, member] of members.entries()) {
        const guess = guesses[i];
        const result = guess && joined(guess, overlay);
        results.push(result ?? (await this.#run(member, snapshot, overlay)));
      }
    }
    return { members, results, overlay };
  }

  /**
   * How many of those that wait the next group takes at most. When all of them are answered together they come back together, and nobody is
   * left whose bodies could run while they commit. So where commits go on beside that, and none is under way, half of them stay behind.
   */
  #share(waiting: number): number {
    const wouldIdle = this.#flies && this.#ahead === undefined && waiting >= enoughToShare;
    return wouldIdle ? Math.min(Math.ceil(waiting / 2), groupSize) : groupSize;
  }

  /** Runs one body over what the group has; its writes stay when it succeeds. */
  async #run(member: Member, snapshot: GroupSnapshot, overlay: Overlay): Promise<Result> {
    for (let isAgain = false; ; isAgain = true) {
      const mark = overlay.mark();
      const { result } = await this.#body(member, snapshot, overlay);
      if (result.ok) return result;
      overlay.takeBack(mark);
      throwIfUnread(result);
      if (!(result.error instanceof StorageConflict)) return result;
      if (++member.conflicts >= mostConflicts) return { ok: false, error: contended(result.error) };
      // A row that an earlier member of this group inserted is there to be seen now. Rows that don't fit together, since somebody
      // committed between the reads of two of them, never do in this group, which reads each row once.
      if (isAgain) throw result.error;
    }
  }

  async #body(member: Member, snapshot: GroupSnapshot, overlay: Overlay): Promise<Guess> {
    const { clock, firstVersion, projection } = this.#options;
    const now = clock.now();
    let lookups: readonly Lookup[] = [];
    let tx: BufferedTx | undefined;
    try {
      const value = await this.#bodies.run(snapshot, async (reads) => {
        lookups = reads.lookups;
        tx = new BufferedTx({ now, snapshot: reads, overlay, firstVersion, noted: projection?.of });
        const answer = await member.work(tx);
        if (tx.insertions.length > 0) await projection?.project(tx, tx.insertions);
        return answer;
      });
      return { result: { ok: true, value }, overlay, lookups };
    } catch (error) {
      return { result: { ok: false, error }, overlay, lookups };
    } finally {
      tx?.end();
    }
  }

  #fly(
    flight: Flight,
    writes: readonly Write[],
    committing: Promise<void>,
    group: Group,
    lookups: Lookup[],
  ): void {
    const landed = committing.then(
      () => {
        this.#land(flight, writes);
        return true;
      },
      async (error: unknown) => {
        await group.abort();
        this.#runAgain(flight.members, error, lookups);
        return false;
      },
    );
    const ahead = { overlay: flight.overlay, landed };
    this.#ahead = ahead;
    void landed.then(() => {
      if (this.#ahead === ahead) this.#ahead = undefined;
    });
  }

  #land({ members, results }: Flight, writes: readonly Write[]): void {
    if (writes.length > 0) this.#options.committed(writes);
    for (const [i, result] of results.entries()) {
      if (result.ok) members[i]?.resolve(result.value);
      else members[i]?.reject(result.error);
    }
  }

  /** The members of a group that left nothing: those that may yet get through are given back, the rest are rejected. */
  #runAgain(members: readonly Member[], error: unknown, lookups: readonly Lookup[]): void {
    if (error instanceof StorageConflict) {
      this.#warm = lookups;
      for (const member of members) {
        if (++member.conflicts >= mostConflicts) member.reject(contended(error));
        member.alone = member.conflicts > 1;
      }
      this.#options.again(members.filter(({ conflicts }) => conflicts < mostConflicts));
    } else if (error instanceof StorageRefusal && members.length > 1) {
      for (const member of members) member.alone = true;
      this.#options.again(members);
    } else {
      for (const member of members) member.reject(error);
    }
  }
}

/** A guess stands when nothing that it rests on was written by those before it. Answers `undefined` when it doesn't. */
function joined({ result, overlay, lookups }: Guess, group: Overlay): Result | undefined {
  if (!result.ok && result.error instanceof StorageConflict) return undefined;
  if (lookups.some((lookup) => group.writesUnder(lookup))) return undefined;
  return !result.ok || group.merge(overlay) ? result : undefined;
}

/** A storage's failure to read is no outcome of a command: the whole group fails. */
function throwIfUnread(result: Result): void {
  if (
    !result.ok &&
    result.error instanceof TidingsError &&
    result.error.code === "storage_unavailable"
  ) {
    throw result.error;
  }
}

/** Members from the head of the queue that may share a commit, each removed as it is taken. */
function* takeGroup(queue: Member[], mixed: boolean, most: number): Generator<Member> {
  const claims = queue[0]?.claims;
  for (let taken = 0; taken < most; taken++) {
    const [member] = queue;
    if (
      member === undefined ||
      (member.alone && taken > 0) ||
      (!mixed && member.claims !== claims)
    ) {
      return;
    }
    queue.shift();
    yield member;
    if (member.alone) return;
  }
}

function contended(cause: unknown): TidingsError {
  return new TidingsError(
    "storage_contended",
    "Others kept changing the same rows; nothing was written. Try again.",
    {
      cause,
    },
  );
}
