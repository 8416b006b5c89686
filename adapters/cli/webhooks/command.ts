import { randomBytes } from "node:crypto";
import { checkUrl, destinations, hostOf } from "../../../src/ports/index.ts";
import { secretText } from "../../../src/webhooks/index.ts";
import { parseArguments, subcommand } from "../arguments.ts";
import type { Command } from "../command.ts";
import type { Database } from "../database/database.ts";
import { accountOptions, accountUsage, withAccount } from "../engine.ts";
import { eventLine } from "../events/line.ts";
import { openStream, typeOptions, typesOf, typeUsage } from "../events/stream.ts";
import { UsageError } from "../failures.ts";
import { readSecrets, saveSecrets } from "../secrets.ts";
import { bold, dim, green, note, print, red } from "../terminal.ts";
import { Forwarder, type Answer, type Target } from "./forwarder.ts";

const usage = [
  `${bold("Usage:")} tidings webhooks listen --forward-to URL [--type TYPE ...]`,
  "",
  "Posts the events of an account to a URL, signed like webhooks, as they are committed.",
  "It needs no webhook in the database, works beside a running engine, and ends with Ctrl+C.",
  "",
  "  --forward-to URL  where to post, such as http://localhost:3000/hooks",
  "  --secret SECRET   sign with this secret (whsec_...); by default one that stays the same",
  ...typeUsage,
  ...accountUsage,
].join("\n");

async function run(args: readonly string[], stopped: AbortSignal): Promise<void> {
  const [, rest] = subcommand(usage, args, ["listen"]);
  const { values } = parseArguments(usage, rest, {
    ...accountOptions,
    ...typeOptions,
    "forward-to": { type: "string" },
    secret: { type: "string" },
  });
  const target = targetOf(values["forward-to"]);
  const types = typesOf(values.type, usage);
  checkSecret(values.secret);
  await withAccount(values, usage, async (account, database) => {
    const secret = values.secret ?? keptSecret(database);
    const stream = await openStream(account, types, stopped);
    note(
      `Forwarding the events in ${database.name} to ${bold(target.url.href)}`,
      `Secret:  ${secret}`,
      dim("Press Ctrl+C to stop."),
    );
    const forwarder = new Forwarder({
      ...target,
      secret,
      stopped,
      onWait: (why) => note(dim(why)),
    });
    for await (const event of stream) {
      const answer = await forwarder.post(event);
      if (answer === undefined) return;
      print(`${eventLine(event)}  ${answerText(answer)}`);
    }
  });
}

function targetOf(given: string | undefined): Target {
  if (given === undefined) throw new UsageError("--forward-to is missing.", usage);
  const url = URL.parse(given);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    const lacksScheme = !given.includes("://") && URL.canParse(`http://${given}`);
    const advice = lacksScheme ? ` Did you mean http://${given}?` : "";
    throw new UsageError(`--forward-to needs an http or https URL.${advice}`, usage);
  }
  // The checked URL has no trailing dot.
  const host = hostOf(url).replace(/\.+$/, "");
  const to = destinations({ http: true, allow: [host] });
  const checked = checkUrl(given, to);
  if (!checked.ok) throw new UsageError(`--forward-to: ${checked.message}`, usage);
  return { url: checked.url, to };
}

/** The engine's own secrets have 32 bytes. The standard allows 24 to 64. */
const secretBytes = { own: 32, min: 24, max: 64 } as const;

function checkSecret(secret: string | undefined): void {
  if (secret === undefined) return;
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const bytes = Buffer.byteLength(base64 ?? "", "base64");
  if (bytes >= secretBytes.min && bytes <= secretBytes.max) return;
  throw new UsageError(
    `--secret needs whsec_ and then ${secretBytes.min} to ${secretBytes.max} bytes in base64.`,
    usage,
  );
}

/** Returns the secret of the last call on this file, so that the receiver keeps its setting. */
function keptSecret({ file }: Database): string {
  const kept = file === undefined ? undefined : readSecrets(file).webhook_secret;
  if (kept !== undefined) return kept;
  const webhook_secret = secretText(randomBytes(secretBytes.own));
  if (file !== undefined) saveSecrets(file, { webhook_secret });
  return webhook_secret;
}

function answerText({ status, error, ms }: Answer): string {
  if (error !== undefined) return red(error);
  const text = String(status);
  return `${status >= 200 && status < 300 ? green(text) : red(text)} ${dim(`${ms} ms`)}`;
}

export const webhooks: Command = { usage, run };
