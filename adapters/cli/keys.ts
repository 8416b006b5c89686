import { nearestName } from "../../src/kernel/index.ts";
import { keyScopes } from "../../src/operations/index.ts";
import { TidingsError, type ApiKey, type KeyScope } from "../entry.ts";
import { parseArguments, subcommand } from "./arguments.ts";
import type { Command } from "./command.ts";
import { accountOptions, accountUsage, withAccount } from "./engine.ts";
import { Failure, UsageError } from "./failures.ts";
import { bold, dim, labeledList, note, oneLine, print, table } from "./terminal.ts";

const usage = [
  `${bold("Usage:")} tidings keys create [--name NAME] [--scope SCOPE ...]`,
  "       tidings keys list",
  "       tidings keys revoke ID",
  "",
  "Creates, lists and revokes API keys. A key's secret is shown once, when it is created.",
  "A running engine on the same database accepts a new key at once, and refuses a revoked one.",
  "",
  "  --name NAME       a name for people (default: CLI)",
  "  --scope SCOPE     what the key may do; repeat it for several (default: everything)",
  ...accountUsage,
  "",
  ...labeledList("Scopes:", keyScopes),
].join("\n");

async function run(args: readonly string[]): Promise<void> {
  const [action, rest] = subcommand(usage, args, ["create", "list", "revoke"]);
  if (action === "create") return create(rest);
  if (action === "list") return list(rest);
  return revoke(rest);
}

async function create(args: readonly string[]): Promise<void> {
  const { values } = parseArguments(usage, args, {
    ...accountOptions,
    name: { type: "string", default: "CLI" },
    scope: { type: "string", multiple: true },
  });
  const { name } = values;
  const scopes = values.scope?.map(scopeOf);
  await withAccount(values, usage, async ({ apiKeys }) => {
    const key = await apiKeys.create({ name, ...(scopes === undefined ? {} : { scopes }) });
    print(key.secret);
    note(dim(`${key.id}, ${key.mode}. Store the secret now: it is not shown again.`));
  });
}

function scopeOf(given: string): KeyScope {
  const scope = keyScopes.find((each) => each === given);
  if (scope !== undefined) return scope;
  const nearest = nearestName(given, keyScopes);
  const question = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  throw new UsageError(`There is no scope "${given}".${question}`, usage);
}

async function list(args: readonly string[]): Promise<void> {
  const { values } = parseArguments(usage, args, accountOptions);
  await withAccount(values, usage, async ({ apiKeys }) => {
    const keys = await Array.fromAsync(apiKeys.list({ limit: 100 }));
    if (keys.length === 0) {
      note(
        "There are no keys in this account and mode yet.",
        "  Create one, with the same options:  tidings keys create",
      );
      return;
    }
    const head = ["ID", "NAME", "SECRET", "CREATED", "LAST USED", "SCOPES"].map(dim);
    print(...table([head, ...keys.map(rowOf)]));
  });
}

function rowOf(key: ApiKey): string[] {
  return [
    key.id,
    oneLine(key.name, 30),
    `…${key.last_four}`,
    key.created_at.slice(0, 10),
    key.last_used_at?.slice(0, 10) ?? "never",
    stateOf(key),
  ];
}

function stateOf({ revoked_at, expires_at, scopes }: ApiKey): string {
  if (revoked_at !== null) return dim("revoked");
  if (expires_at !== null && Date.parse(expires_at) <= Date.now()) return dim("expired");
  return scopes.length === keyScopes.length ? "all scopes" : scopes.join(", ");
}

async function revoke(args: readonly string[]): Promise<void> {
  const { values, words } = parseArguments(usage, args, accountOptions, ["id of the key"]);
  const [id = ""] = words;
  await withAccount(values, usage, async ({ apiKeys }) => {
    try {
      await apiKeys.revoke(id);
    } catch (error) {
      if (!(error instanceof TidingsError) || error.code !== "not_found") throw error;
      throw new Failure(
        `There is no key ${oneLine(id)} in this account and mode.`,
        "List the keys, with the same options:  tidings keys list",
        ...(id.startsWith("tdg_") ? ["This is a secret. A key is revoked by its id."] : []),
      );
    }
    note(`Revoked ${id}. It stops working at once.`);
  });
}

export const keys: Command = { usage, run };
