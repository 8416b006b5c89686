/** The engine of the commands that only look at a database or change it. */
import type { Logger } from "../../src/ports/index.ts";
import { MessagingEngine, TidingsError, type AccountHandle } from "../entry.ts";
import { standard } from "../standard.ts";
import { sandbox } from "../transport/sandbox/index.ts";
import {
  chooseDatabase,
  databaseOptions,
  databaseUsage,
  type DatabaseChoice,
} from "./database/choose.ts";
import type { Database } from "./database/database.ts";
import { UsageError } from "./failures.ts";
import { note, oneLine, yellow } from "./terminal.ts";

/** The options that name an account, a mode and a database. */
export const accountOptions = {
  account: { type: "string" },
  live: { type: "boolean" },
  ...databaseOptions,
} as const;

export const accountUsage: readonly string[] = [
  "  --account ID      an account (default: the default account)",
  "  --live            the live mode instead of the sandbox",
  ...databaseUsage,
];

interface AccountChoice extends DatabaseChoice {
  readonly account?: string | undefined;
  readonly live?: boolean | undefined;
}

/**
 * Calls `work` with the account of an engine on an existing database. The engine sends nothing:
 * that is left to the engines that are started on the same database.
 */
export async function withAccount(
  choice: AccountChoice,
  usage: string,
  work: (account: AccountHandle, database: Database) => Promise<void>,
): Promise<void> {
  const database = chooseDatabase(choice, { usage, mayCreate: false });
  const engine = new MessagingEngine({
    ...standard(),
    storage: database.storage({ migrate: false }),
    transports: [sandbox()],
    logger: terminalLogger(),
  });
  try {
    await work(accountOf(engine, choice, usage), database);
  } finally {
    await engine.stop();
    await database.close();
  }
}

function accountOf(
  engine: MessagingEngine,
  { account: id, live = false }: AccountChoice,
  usage: string,
): AccountHandle {
  try {
    return engine.account(id, { mode: live ? "live" : "sandbox" });
  } catch (error) {
    if (!(error instanceof TidingsError)) throw error;
    throw new UsageError(`"${oneLine(id ?? "")}" is not the id of an account.`, usage);
  }
}

/** Prints warnings and errors of an engine as one line each. */
export function terminalLogger(): Logger {
  const warn = (facts: object, message: string): void =>
    note(`${yellow("!")} ${message}${detailOf(facts)}`);
  return { debug() {}, info() {}, warn, error: warn };
}

function detailOf(facts: object): string {
  const error: unknown = "err" in facts ? facts.err : undefined;
  return error instanceof Error ? `: ${oneLine(error.message, 200)}` : "";
}
