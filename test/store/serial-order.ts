/** Searches for a sequential order of commands that explains their reads and the final state. */
import { isDeepStrictEqual } from "node:util";
import type { Collection, Index, KeyValue, Seen } from "../../src/ports/collection.ts";
import {
  itemByLabel,
  items,
  take,
  writerOf,
  type Command,
  type Fact,
  type Item,
  type View,
} from "./commands.ts";

/** A finished command and its reads. */
export interface Answered {
  readonly command: Command;
  readonly facts: readonly Fact[];
  /** A counter at the command's start and end. */
  readonly given: number;
  readonly answered: number;
  /** The position of its entry in the log. */
  readonly position: number | undefined;
}

export type State = ReadonlyMap<string, Item>;

/**
 * An order that ends in the state `left`, or undefined. It respects real time (a command that
 * finished before another started comes first) and the order of the log.
 */
export async function serialOrder(
  commands: readonly Answered[],
  left: State,
): Promise<readonly string[] | undefined> {
  const tried = new Set<string>();
  const givenBy = new Map(commands.map((each) => [each.command.name, each]));

  const search = async (
    state: State,
    todo: readonly Answered[],
  ): Promise<readonly string[] | undefined> => {
    if (todo.length === 0) return isDeepStrictEqual(state, left) ? [] : undefined;
    const seen = JSON.stringify([
      todo.map(({ command }) => command.name),
      [...state.values()].map(({ id, token }) => `${id} ${token}`).toSorted(),
    ]);
    if (tried.has(seen)) return undefined;
    tried.add(seen);
    for (const next of todo) {
      if (todo.some((other) => mustPrecede(other, next))) continue;
      const after = await replayed(
        state,
        next,
        (token) => (givenBy.get(writerOf(token))?.answered ?? 0) > next.given,
      );
      const rest =
        after &&
        (await search(
          after,
          todo.filter((each) => each !== next),
        ));
      if (rest !== undefined) return [next.command.name, ...rest];
    }
    return undefined;
  };
  return search(new Map(), commands);
}

function mustPrecede(a: Answered, b: Answered): boolean {
  if (a === b) return false;
  if (a.answered < b.given) return true;
  return a.position !== undefined && b.position !== undefined && a.position < b.position;
}

/** The state after replaying a command; undefined if it would read something else. */
async function replayed(
  state: State,
  { command, facts }: Answered,
  isFresh: (token: string) => boolean,
): Promise<State | undefined> {
  const toy = new ReferenceView(state, isFresh);
  try {
    for (const [i, step] of command.steps.entries()) {
      const saw = facts[i];
      if (saw === undefined) continue;
      toy.listed = saw;
      if (!isDeepStrictEqual(await take(toy, step, command, i), saw)) return undefined;
    }
    return toy.rows;
  } catch (error) {
    if (error instanceof Impossible) return undefined;
    throw error;
  }
}

class Impossible extends Error {}

/** A trivially correct storage for one command. */
class ReferenceView implements View {
  rows: State;
  /** The rows of a list in this step. */
  listed: Readonly<Record<string, string>> = {};
  readonly #isFresh: (token: string) => boolean;

  constructor(rows: State, isFresh: (token: string) => boolean) {
    this.rows = rows;
    this.#isFresh = isFresh;
  }

  async get<R extends object>(
    index: Index<R>,
    [key]: readonly KeyValue[],
  ): Promise<Seen<R> | undefined> {
    const column = (index as object) === itemByLabel ? "label" : "id";
    return seen<R>([...this.rows.values()].find((row) => row[column] === key));
  }

  /** Lists are not guarded against inserts, so a concurrently written row may be missing. */
  async list<R extends object>(
    _: Index<R>,
    [owner]: readonly KeyValue[],
    limit: number,
    order: "ascending" | "descending" = "ascending",
  ): Promise<readonly Seen<R>[]> {
    const saw = this.listed;
    const isAscending = order === "ascending";
    const isBefore = (a: string, b: string): boolean => (isAscending ? a < b : a > b);
    const ids = Object.keys(saw).toSorted();
    const last = ids.length < limit ? undefined : ids.at(isAscending ? -1 : 0);
    const all = [...this.rows.values()].filter((row) => row.owner === owner);
    for (const { id, token } of all) {
      if (!(id in saw) && (last === undefined || isBefore(id, last)) && !this.#isFresh(token)) {
        throw new Impossible();
      }
    }
    return all.filter(({ id }) => id in saw).flatMap((row) => seen<R>(row) ?? []);
  }

  insert<R extends object>(collection: Collection<R>, row: R): Seen<R> {
    if ((collection as object) === items) this.#put(row as unknown as Item, false);
    return { ...row, version: 1 };
  }

  update<R extends object>(_: Collection<R>, row: Seen<R>, patch: Partial<R>): Seen<R> {
    const next = { ...row, ...patch };
    this.#put(next as unknown as Item, true);
    return next;
  }

  remove<R extends object>(_: Collection<R>, row: Seen<R>): void {
    this.rows = new Map([...this.rows].filter(([id]) => id !== (row as unknown as Item).id));
  }

  add(): void {}

  attempt(): Promise<never> {
    throw new Impossible();
  }

  #put({ id, owner, label, token }: Item, isThere: boolean): void {
    const taken = [...this.rows.values()].some(
      (row) => row.id !== id && label !== null && row.label === label,
    );
    if (taken || this.rows.has(id) !== isThere) throw new Impossible();
    this.rows = new Map([...this.rows, [id, { id, owner, label, token }]]);
  }
}

function seen<R extends object>(row: Item | undefined): Seen<R> | undefined {
  return row && ({ ...row, version: 1 } as unknown as Seen<R>);
}
