import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Command } from "../../adapters/cli/command.ts";
import { dev } from "../../adapters/cli/dev/command.ts";
import { events } from "../../adapters/cli/events/command.ts";
import { UsageError } from "../../adapters/cli/failures.ts";
import { keys } from "../../adapters/cli/keys.ts";
import { note, oneLine, print, red, table } from "../../adapters/cli/terminal.ts";
import { webhooks } from "../../adapters/cli/webhooks/command.ts";
import { cases } from "../support/runs.ts";
import { finished, scratch } from "./tidings.ts";

test("without a command, the commands are listed, and each explains its options", async () => {
  const folder = await scratch();
  const { status, output } = await finished(folder);
  expect(status).toBe(0);
  const names = [...output.matchAll(/^ {2}(\w+) {2}/gm)].map(([, name = ""]) => name);
  expect(names).toEqual(["dev", "keys", "events", "webhooks", "migrate", "doctor"]);
  const some = cases(names, (name) => name === "dev" || name === "keys");
  const helps = await Promise.all(some.map((name) => finished(folder, name, "--help")));
  for (const [at, help] of helps.entries()) {
    expect(help).toMatchObject({ status: 0, errors: "" });
    expect(help.output).toMatch(new RegExp(`^Usage: tidings ${some[at]}\\b`));
    expect(help.output).toMatch(/^ {2}--file PATH/m);
    expect(help.output.split("\n").filter((line) => line.length > 100)).toEqual([]);
  }
});

test("--version prints the version of the package alone", async () => {
  expect(await finished(await scratch(), "--version")).toEqual({
    status: 0,
    output: "0.1.0\n",
    errors: "",
  });
});

test.runIf(existsSync("/dev/full"))("an output that cannot be written is reported", () => {
  const full = openSync("/dev/full", "w");
  const { status, stderr } = spawnSync(process.execPath, [resolve("dist/cli.js"), "--version"], {
    stdio: ["ignore", full, "pipe"],
    encoding: "utf8",
  });
  closeSync(full);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^Error: The output cannot be written: ENOSPC: .*\n$/);
});

test("wrong arguments get the usage on the standard error and status 2", async () => {
  const folder = await scratch();
  const [unknown, wrong] = await Promise.all([
    finished(folder, "devv"),
    finished(folder, "dev", "--prot", "1"),
  ]);
  expect(unknown).toMatchObject({ status: 2, output: "" });
  expect(unknown.errors).toMatch(
    /^Error: There is no command "devv". Did you mean "tidings dev"\?\n\nUsage: tidings COMMAND/,
  );
  expect(wrong).toMatchObject({ status: 2, output: "" });
  expect(wrong.errors).toMatch(
    /^Error: There is no option --prot. Did you mean --port\?\n\nUsage: tidings dev/,
  );
});

test("a value that the engine refuses gets status 2 too", async () => {
  const { status, errors } = await finished(await scratch(), "migrate", "--file", ":memory:");
  expect(errors).toContain('expected the path of a database file, got ":memory:"');
  expect(status).toBe(2);
});

const commands: Readonly<Record<string, Command>> = { dev, keys, events, webhooks };

test.each([
  ["dev", ["--port", "http"], '--port needs a number from 0 to 65535, got "http".'],
  ["dev", ["--port", "70000"], '--port needs a number from 0 to 65535, got "70000".'],
  ["dev", ["--port"], "--port needs a value."],
  ["dev", ["now"], 'Unexpected argument "now".'],
  ["keys", [], "The subcommand is missing. Expected: create, list, revoke."],
  ["keys", ["remove"], 'There is no subcommand "remove". Expected: create, list, revoke.'],
  ["keys", ["revoke"], "The id of the key is missing."],
  ["keys", ["create", "--scope", "message:read"], "Did you mean messages:read?"],
  ["keys", ["list", "--file", "a.db", "--database", "postgres://x/y"], "either --file or --data"],
  ["keys", ["list", "--database", "mysql://x/y"], "needs a URL such as postgres://user@host/name"],
  ["keys", ["list", "--file", ""], "--file needs a value."],
  ["keys", ["list", "--schema", "tidings"], "--schema needs --database."],
  ["keys", ["list", "--database", "postgres://x/y", "--schema", "a;b"], "--schema needs up to 63"],
  ["events", ["tail", "--type", "message.recieved"], "Did you mean message.received?"],
  ["events", ["tail", "--type", "message.delivered"], "Use message.sent: it is published when"],
  ["events", ["tail", "--type", "nothing"], 'There is no event type "nothing".'],
  ["webhooks", ["listen"], "--forward-to is missing."],
  ["webhooks", ["listen", "--forward-to", "localhost:3000"], "mean http://localhost:3000?"],
  [
    "webhooks",
    ["listen", "--forward-to", "http://me:pw@localhost"],
    "must not contain a user name",
  ],
  ["webhooks", ["listen", "--forward-to", "ftp://localhost"], /needs an http or https URL\.$/],
  // The URL is accepted.
  ...["http://localhost", "http://localhost.:3000"].map((url): [string, string[], string] => [
    "webhooks",
    ["listen", "--forward-to", url, "--secret", "whsec_short"],
    "--secret needs whsec_ and then 24 to 64 bytes in base64.",
  ]),
])("tidings %s %j is refused, with what is expected", async (name, args, message) => {
  const run = commands[name]?.run(args, new AbortController().signal);
  await expect(run).rejects.toThrow(UsageError);
  await expect(run).rejects.toThrow(message);
});

test("what strangers write cannot move the cursor, change colors or turn the text around", () => {
  const nasty = ["\u001b", "\u009b", "\n", "\t", "\u0000", "\u202e", "\u2066", "\u2028", "\u200f"];
  const unit = fc.constantFrom("a", "é", "😀", " ", ...nasty);
  fc.assert(
    fc.property(fc.string({ unit }), fc.integer({ min: 1, max: 200 }), (text, max) => {
      const shown = oneLine(text, max);
      expect(shown, "No control character is printed.").not.toMatch(
        /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u,
      );
      expect([...shown].length, `A line has at most ${max} characters.`).toBeLessThanOrEqual(max);
    }),
  );
  expect(oneLine("a\u001b[2Jb\nc\u202ed")).toBe("a [2Jb c d");
});

test("the columns of a table begin below each other, also with colors", () => {
  const cell = fc.string({ unit: fc.constantFrom("a", "é", "文"), minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1 }), (rows) => {
      const colored = rows.map(([a, b]) => [`\u001b[1m${a}\u001b[22m`, b]);
      const plain = table(colored).map((line) => stripVTControlCharacters(line));
      const starts = plain.map((line, at) => [...line].length - [...(rows[at]?.[1] ?? "")].length);
      expect(
        new Set(starts).size,
        `The second column of all lines begins at the same place: ${starts.join(", ")}.`,
      ).toBe(1);
    }),
  );
});

test("a file that gets the errors gets no colors while the results go to a terminal", () => {
  vi.stubEnv("FORCE_COLOR", undefined).stubEnv("NO_COLOR", undefined);
  vi.stubEnv("NODE_DISABLE_COLORS", undefined).stubEnv("TERM", "xterm-256color");
  const { stdout, stderr } = process;
  const before = [stdout.isTTY, stderr.isTTY];
  const [results, errors] = [stdout, stderr].map((stream) =>
    vi.spyOn(stream, "write").mockReturnValue(true),
  );
  onTestFinished(() => {
    [stdout.isTTY = false, stderr.isTTY = false] = before;
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });
  const colored = "\u001b[31m1\u001b[39m\n";
  Object.assign(stdout, { isTTY: true });
  Object.assign(stderr, { isTTY: false });
  print(red("1"));
  note(red("1"));
  expect(results).toHaveBeenLastCalledWith(colored);
  expect(errors).toHaveBeenLastCalledWith("1\n");

  Object.assign(stderr, { isTTY: true });
  note(red("1"));
  expect(errors).toHaveBeenLastCalledWith(colored);
});
