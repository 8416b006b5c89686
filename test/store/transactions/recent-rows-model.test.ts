/**
 * Two processes take turns. Each command must see what all earlier ones have left, whether the rows
 * are taken from memory or from the storage, and must leave what it would leave alone.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Store } from "../../../src/store/store.ts";
import type { UnscopedTx } from "../../../src/store/transactions/transaction.ts";
import { runs } from "../../support/runs.ts";
import { embeddedStorages } from "../../support/storage/storages.ts";
import { itemById, items } from "../commands.ts";
import { distrustMs, recent, tokenOf, twoProcesses } from "../two-processes.ts";

const ids = ["a", "b"] as const;

interface Step {
  readonly does: "look" | "append" | "remove" | "create";
  readonly id: (typeof ids)[number];
  /** How the row is read. Every way but the plain one guards it. */
  readonly how: "recent" | "held" | "plain";
  /** Whether the step is an attempt that is undone: always, or if there is a row. */
  readonly undone: "never" | "always" | "if found";
}

interface Turn {
  readonly process: 0 | 1;
  readonly steps: readonly Step[];
  /** Whether the command fails: always, or if its last step has found a row. */
  readonly fails: "never" | "always" | "if found";
  /** How long the next command waits. */
  readonly thenMs: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  does: fc.constantFrom("look", "append", "append", "remove", "create"),
  id: fc.constantFrom(...ids),
  how: fc.constantFrom("recent", "recent", "held", "plain"),
  undone: fc.constantFrom("never", "never", "never", "always", "if found"),
});

const turns: fc.Arbitrary<readonly Turn[]> = fc.array(
  fc.record({
    process: fc.constantFrom(0, 0, 1),
    steps: fc.array(step, { minLength: 1, maxLength: 4 }),
    fails: fc.constantFrom("never", "never", "never", "always", "if found"),
    thenMs: fc.constantFrom(0, 0, 1, distrustMs),
  }),
  { minLength: 1, maxLength: 25, size: "max" },
);

type State = ReadonlyMap<string, string>;
/** The tokens that a command has read, and whether it failed. */
interface Outcome {
  readonly seen: readonly (string | null)[];
  readonly failed: boolean;
}

class Failure extends Error {}

const applies = (when: "never" | "always" | "if found", token: string | undefined): boolean =>
  when === "always" || (when === "if found" && token !== undefined);

/** What the token becomes. Undefined if there is no row then. */
function next({ does }: Step, token: string | undefined, own: string): string | undefined {
  if (does === "remove") return undefined;
  if (does === "append") return token && `${token} ${own}`;
  return does === "create" ? (token ?? own) : token;
}

/** The model: a map that only one command at a time uses. */
function expected(state: State, turn: Turn, own: string): [Outcome, State] {
  const rows = new Map(state);
  const seen: (string | null)[] = [];
  let last: string | undefined;
  for (const each of turn.steps) {
    last = rows.get(each.id);
    seen.push(last ?? null);
    if (applies(each.undone, last)) continue;
    const token = next(each, last, own);
    if (token === undefined) rows.delete(each.id);
    else rows.set(each.id, token);
  }
  const failed = applies(turn.fails, last);
  return [{ seen, failed }, failed ? state : rows];
}

const options = { recent, held: { hold: true }, plain: {} } as const;

async function take(tx: UnscopedTx, each: Step, own: string): Promise<string | undefined> {
  const row = await tx.get(itemById, [each.id], options[each.how]);
  const token = next(each, row?.token, own);
  if (row === undefined) {
    const fresh = { id: each.id, owner: "nobody", label: null };
    if (token !== undefined) tx.insert(items, { ...fresh, token });
  } else if (token === undefined) tx.remove(items, row);
  else if (token !== row.token) tx.update(items, row, { token });
  return row?.token;
}

async function actual(store: Store, turn: Turn, own: string): Promise<Outcome> {
  let seen: (string | null)[] = [];
  const running = store.commitUnscoped(async (tx) => {
    seen = [];
    let last: string | undefined;
    for (const each of turn.steps) {
      const attempt = tx.attempt(async (part) => {
        last = await take(part, each, own);
        seen.push(last ?? null);
        if (applies(each.undone, last)) throw new Failure("on second thoughts");
      });
      await attempt.catch((error: unknown) => {
        if (!(error instanceof Failure)) throw error;
      });
    }
    if (applies(turn.fails, last)) throw new Failure("the command fails, as it was told to");
  });
  const failed = await running.then(
    () => false,
    (error: unknown) => {
      if (error instanceof Failure) return true;
      throw error;
    },
  );
  return { seen, failed };
}

test.each(embeddedStorages)(
  "commands of two processes on $name see what the earlier ones left, and no write is lost",
  async ({ name, open }) => {
    const ground = open({ empty: true });
    const { one, other, pass } = await twoProcesses(ground);
    const property = fc.asyncProperty(turns, async (given) => {
      for (const store of [one, other]) {
        await store.commitUnscoped(async (tx) => {
          for (const id of ids) {
            const row = await tx.get(itemById, [id]);
            if (row !== undefined) tx.remove(items, row);
          }
        });
      }
      pass(distrustMs);
      let state: State = new Map();
      for (const [i, turn] of given.entries()) {
        const [outcome, after] = expected(state, turn, `${i}`);
        const store = turn.process === 0 ? one : other;
        expect(
          await actual(store, turn, `${i}`),
          `Turn ${i} sees what the earlier ones have left.`,
        ).toEqual(outcome);
        state = after;
        for (const id of ids) {
          const token = await tokenOf(other, id);
          expect(token, `Turn ${i} leaves row ${id} as it would alone.`).toBe(state.get(id));
        }
        pass(turn.thenMs);
      }
    });
    await fc.assert(property, { numRuns: runs(name === "memory" ? 1_000 : 300) });
  },
);
