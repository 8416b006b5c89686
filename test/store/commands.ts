/** Commands on a few rows that record what they read. */
import { schemaOf, type RowOf, type Schema } from "../../src/ports/collection.ts";
import {
  collection,
  integer,
  nullable,
  position,
  text,
} from "../../src/ports/define-collection.ts";
import type { UnscopedTx } from "../../src/store/transactions/transaction.ts";

export const items = collection(
  "items",
  {
    id: text(),
    owner: text(),
    label: nullable(text()),
    /** The command and step that wrote it. */
    token: text(),
  },
  { kind: "queue" },
);
export interface Item extends RowOf<typeof items> {}

export const itemById = items.key("id");
export const itemByLabel = items.unique("by_label", ["label"], {
  where: { column: "label", present: true },
});
export const itemsByOwner = items.index("by_owner", ["owner"]);

export const sums = collection(
  "sums",
  {
    name: text(),
    count: integer(),
  },
  { kind: "counter" },
);
export interface Sum extends RowOf<typeof sums> {}

export const sumByName = sums.key("name");

export const log = collection("log", {
  id: text(),
  topic: text(),
  position: position(),
});
export interface Entry extends RowOf<typeof log> {}

export const entryById = log.key("id");
export const entriesByTopic = log.index("by_topic", ["topic", "position"]);

export const schema: Schema = schemaOf([items, sums, log]);

/** A step holds or writes every row that it reads, as every decision on a row requires. */
export type Step =
  /** `recent`: the row may come from memory, if this process has written it. */
  | { readonly does: "put" | "remove" | "hold"; readonly id: string; readonly recent: boolean }
  | { readonly does: "claim" | "free"; readonly label: string }
  | { readonly does: "label"; readonly id: string; readonly label: string }
  | { readonly does: "move"; readonly id: string; readonly owner: string }
  | {
      readonly does: "list" | "stamp";
      readonly owner: string;
      readonly limit: number;
      readonly order: "ascending" | "descending";
    }
  | { readonly does: "add" }
  /** Writes and rolls back. */
  | { readonly does: "waver"; readonly id: string; readonly recent: boolean };

export interface Command {
  /** A prefix of all its keys, so that tests can share a storage. */
  readonly world: string;
  readonly name: string;
  readonly steps: readonly Step[];
  readonly fails: boolean;
  readonly logs: boolean;
  /** Commands that had finished before this one started. */
  readonly knows: ReadonlySet<string>;
}

/**
 * What a step read: rows by id, with their tokens. `undefined` if it wrote nothing and read nothing
 * guarded. The absence of a row is guarded only if the step inserts it.
 */
export type Fact = { readonly [id: string]: string } | undefined;

export class Failure extends Error {
  readonly facts: readonly Fact[];

  constructor(facts: readonly Fact[]) {
    super("the command fails, as it was told to");
    this.facts = facts;
  }
}

/** The part of a transaction that the commands use. */
export type View = Pick<
  UnscopedTx,
  "get" | "list" | "insert" | "update" | "remove" | "add" | "attempt"
>;

export async function run(tx: View, command: Command): Promise<readonly Fact[]> {
  const { world, name, steps, fails, logs } = command;
  const facts: Fact[] = [];
  for (const [number, step] of steps.entries()) facts.push(await take(tx, step, command, number));
  if (logs) tx.insert(log, { id: name, topic: world, position: 0 });
  if (fails) throw new Failure(facts);
  return facts;
}

export async function take(tx: View, step: Step, command: Command, number: number): Promise<Fact> {
  const own = (word: string): string => `${command.world}/${word}`;
  const token = `${command.name}.${number}`;
  // A row inserted and removed in one commit is not written: its absence is not guarded.
  const mayUndo = (row: Item): boolean => command.knows.has(writerOf(row.token));
  switch (step.does) {
    case "put":
    case "remove": {
      const row = await tx.get(itemById, [own(step.id)], {
        hold: step.recent ? "recent" : false,
      });
      if (row === undefined) {
        tx.insert(items, { id: own(step.id), owner: own("nobody"), label: null, token });
      } else if (step.does === "remove" && mayUndo(row)) tx.remove(items, row);
      else tx.update(items, row, { token });
      return noted(row);
    }
    case "hold": {
      const options = { hold: step.recent ? ("recent" as const) : true };
      const row = await tx.get(itemById, [own(step.id)], options);
      return row && noted(row);
    }
    case "claim":
    case "free": {
      const label = own(step.label);
      const row = await tx.get(itemByLabel, [label], { hold: true });
      if (row === undefined) {
        tx.insert(items, { id: own(`claim by ${token}`), owner: own("claims"), label, token });
      } else if (step.does === "free" && mayUndo(row)) tx.remove(items, row);
      return noted(row);
    }
    case "label": {
      const row = await tx.get(itemById, [own(step.id)], { hold: true });
      if (row === undefined || !(row.label === null || mayUndo(row))) return row && noted(row);
      const taken = await tx.get(itemByLabel, [own(step.label)], { hold: true });
      if (taken === undefined) tx.update(items, row, { label: own(step.label), token });
      return noted(row, taken);
    }
    case "move": {
      const row = await tx.get(itemById, [own(step.id)]);
      if (row !== undefined) tx.update(items, row, { owner: own(step.owner), token });
      return row && noted(row);
    }
    case "list": {
      const rows = await tx.list(itemsByOwner, [own(step.owner)], step.limit, step.order);
      for (const { id, version } of rows) {
        const held = await tx.get(itemById, [id], { hold: true });
        // The row changed between the two reads. Lists are not guarded.
        if (held?.version !== version) return undefined;
      }
      return noted(...rows);
    }
    case "stamp": {
      const rows = await tx.list(itemsByOwner, [own(step.owner)], step.limit, step.order);
      for (const row of rows) tx.update(items, row, { token });
      return noted(...rows);
    }
    case "add":
      tx.add(sums, { name: own("sum"), count: 1 });
      return undefined;
    case "waver": {
      const wavered = tx.attempt(async () => {
        await take(tx, { ...step, does: "put" }, command, number);
        throw new Error("on second thoughts");
      });
      await wavered.catch(() => {});
      return undefined;
    }
  }
}

/** The command that wrote a token. */
export function writerOf(token: string): string {
  return token.slice(0, token.lastIndexOf("."));
}

function noted(...rows: readonly (Item | undefined)[]): Fact {
  return Object.fromEntries(
    rows.flatMap((row) => (row === undefined ? [] : [[row.id, row.token]])),
  );
}
