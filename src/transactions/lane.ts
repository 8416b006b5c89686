import { TidingsError } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Index } from "../ports/collection.ts";
import {
  type Group,
  type Lookup,
  type Row,
  StorageConflict,
  type StoragePort,
  StorageRefusal,
  type Write,
} from "../ports/storage.ts";
import { BufferedTx, type Snapshot } from "./buffered-tx.ts";
import { type AnySeen, encodeKey, Overlay } from "./overlay.ts";
import type { Tx } from "./transaction.ts";

/** A command that waits for its commit. */
export interface Member {
  readonly work: (tx: Tx) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** How often it has been run in vain. */
  conflicts: number;
  /** Commits by itself, so that it can't fail others nor others fail it. */
  alone: boolean;
}

/** What a lane needs of a storage. */
export type LanePort = Pick<StoragePort, "begin" | "turn">;

type Result = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

/** How many commands share a commit, and for how long a group gathers them. More would make the first ones wait. */
const groupSize = 64;
const groupMs = 8;
export const mostConflicts = 8;

/**
 * Commits groups of commands, one group after the other.
 *
 * The bodies of a group run one after the other, each over what the earlier ones wrote. Then everything is written at once, and
 * only when that is durable is anybody answered: a value or a rejection may rest on what an earlier member wrote, and that
 * must not be undone behind its back. When the commit meets a conflict, every member runs again; when it does so twice, or the
 * storage refuses a write for good, the members run singly, so that one can't keep failing the rest.
 */
export class Lane {
  readonly #port: LanePort;
  readonly #number: number;
  readonly #clock: Clock;
  readonly #committed: (writes: readonly Write[]) => void;
  /** The body that runs now: watched for awaiting what is not its transaction. */
  #running: RunningBody | undefined;
  #watching = false;

  constructor(port: LanePort, number: number, clock: Clock, committed: (writes: readonly Write[]) => void) {
    this.#port = port;
    this.#number = number;
    this.#clock = clock;
    this.#committed = committed;
  }

  /** Takes members from the head of `queue` and answers them, or puts them back to run again. Never rejects. */
  async runGroup(queue: Member[]): Promise<void> {
    const members: Member[] = [];
    const results: Result[] = [];
    let group: Group | undefined;
    let snapshot: Snapshot | undefined;
    try {
      const overlay = new Overlay();
      const began = this.#clock.now();
      for (const member of takeGroup(queue)) {
        members.push(member);
        group ??= this.#port.begin(this.#number, member.conflicts > 0 ? "exclusive" : "shared");
        snapshot ??= this.#snapshot(group);
        results.push(await this.#run(member, snapshot, overlay));
        if (this.#clock.now() - began >= groupMs) break;
      }
      const writes = overlay.writes();
      await (writes.length > 0 ? group?.commit(writes) : group?.abort());
      if (writes.length > 0) this.#committed(writes);
      answer(members, results);
    } catch (error) {
      await group?.abort();
      queue.unshift(...runAgain(members, error));
    }
  }

  #snapshot(group: Group): Snapshot {
    const known = new Map<Index, Map<string, readonly AnySeen[]>>();
    return {
      read: (lookup: Lookup) => {
        const { index, key, limit } = lookup;
        let found = known.get(index);
        if (found === undefined) known.set(index, (found = new Map<string, readonly AnySeen[]>()));
        const id = `${limit} ${encodeKey(key)}`;
        const before = found.get(id);
        if (before !== undefined) return before;
        const keep = ([rows = []]: readonly (readonly Row[])[]): readonly AnySeen[] => {
          found.set(id, rows as readonly AnySeen[]);
          return rows as readonly AnySeen[];
        };
        const read = group.read([lookup]);
        return read instanceof Promise ? this.#waitFor(read).then(keep) : keep(read);
      },
    };
  }

  /** Runs one body; merges its writes when it succeeds. A storage's failure to read fails the whole group. */
  async #run(member: Member, snapshot: Snapshot, group: Overlay): Promise<Result> {
    for (;;) {
      const overlay = new Overlay(group);
      const tx = new BufferedTx(this.#clock.now(), snapshot, overlay);
      try {
        const value = await this.#supervised(() => member.work(tx));
        overlay.mergeInto(group);
        return { ok: true, value };
      } catch (error) {
        if (error instanceof StorageConflict) {
          // A row that an earlier member of this group inserted: run again, it is there to be seen now.
          if (++member.conflicts < mostConflicts) continue;
          return { ok: false, error: contended(error) };
        }
        if (error instanceof TidingsError && error.code === "storage_unavailable") throw error;
        return { ok: false, error };
      } finally {
        tx.end(new Error("The command has returned; its transaction can't be used any more."));
      }
    }
  }

  /**
   * Refuses a body that awaits anything but its transaction: it would hold every other command. Reads and microtasks settle
   * within a turn of the event loop, so a body that is unsettled after a whole turn without a read awaits something else.
   */
  #supervised<T>(work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const running: RunningBody = { reads: 0, refuse: reject };
      this.#running = running;
      const settle = (): void => {
        if (this.#running === running) this.#running = undefined;
      };
      // Begun only now: its first read must find it running.
      work().then(
        (value) => {
          settle();
          resolve(value);
        },
        (error: unknown) => {
          settle();
          reject(error);
        },
      );
      this.#watch();
    });
  }

  #watch(): void {
    if (this.#watching || this.#running === undefined || this.#running.reads > 0) return;
    this.#watching = true;
    const watched = this.#running;
    void this.#port.turn().then(() => {
      this.#watching = false;
      if (this.#running === watched && watched.reads === 0) watched.refuse(foreignAwait());
      else this.#watch();
    });
  }

  async #waitFor<T>(read: Promise<T>): Promise<T> {
    const running = this.#running;
    if (running === undefined) return read;
    running.reads++;
    try {
      return await read;
    } finally {
      running.reads--;
      this.#watch();
    }
  }
}

interface RunningBody {
  /** Reads of the storage that it waits for. */
  reads: number;
  readonly refuse: (error: Error) => void;
}

function foreignAwait(): Error {
  return new TypeError(
    "A command may await its transaction and nothing else: it would hold up every other command. Do I/O before or after it.",
  );
}

/** Members from the head of the queue that may share a commit, each removed as it is taken. */
function* takeGroup(queue: Member[]): Generator<Member> {
  for (let taken = 0; taken < groupSize; taken++) {
    const [member] = queue;
    if (member === undefined || (member.alone && taken > 0)) return;
    queue.shift();
    yield member;
    if (member.alone) return;
  }
}

function answer(members: readonly Member[], results: readonly Result[]): void {
  for (const [i, result] of results.entries()) {
    if (result.ok) members[i]?.resolve(result.value);
    else members[i]?.reject(result.error);
  }
}

/** The members of a group that left nothing: those to be run again are answered, the rest are rejected. */
function runAgain(members: readonly Member[], error: unknown): Member[] {
  if (error instanceof StorageConflict) {
    return members.filter((member) => {
      if (++member.conflicts >= mostConflicts) member.reject(contended(error));
      member.alone = member.conflicts > 1;
      return member.conflicts < mostConflicts;
    });
  }
  if (error instanceof StorageRefusal && members.length > 1) {
    for (const member of members) member.alone = true;
    return [...members];
  }
  for (const member of members) member.reject(error);
  return [];
}

function contended(cause: unknown): TidingsError {
  return new TidingsError("storage_contended", "Others kept changing the same rows; nothing was written. Try again.", {
    cause,
  });
}
