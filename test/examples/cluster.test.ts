import { expect, test } from "vitest";
import { database } from "../support/postgres/test-database.ts";
import { isLong, longTest } from "../support/runs.ts";
import { start, type Program } from "./program.ts";

interface Totals {
  readonly sent: number;
  readonly delivered: number;
  readonly kills: number;
}

/** Waits for the program to succeed, and returns the totals that it prints. */
async function totalsOf(program: Program): Promise<Totals> {
  const status = await program.ended();
  const output = program.output();
  expect(status, output + (await program.errors())).toBe(0);
  const found =
    /^ ✓ ([\d,]+) sent, ([\d,]+) delivered, 0 lost, 0 duplicated, ([\d,]+) kills$/m.exec(output);
  const [sent = 0, delivered = 0, kills = 0] = (found ?? [])
    .slice(1)
    .map((each) => Number(each.replaceAll(",", "")));
  return { sent, delivered, kills };
}

longTest("three processes that are killed at random lose and duplicate nothing", async () => {
  // Without DATABASE_URL the program starts its own server, as in a fresh clone.
  await using program = start("examples/cluster/main.ts", ["--seconds", "6"], {
    DATABASE_URL: undefined,
  });
  const { sent, delivered, kills } = await totalsOf(program);
  expect(kills).toBeGreaterThanOrEqual(2);
  // Each of the 12 clients repeats its first order until it is acknowledged. On a slow machine, kills
  // leave little time for others.
  expect(sent).toBeGreaterThanOrEqual(12);
  expect(delivered).toBe(sent);
  expect(program.output()).toMatch(
    /^ +\d+\.\d s {2}sent +\d+ {2}delivered +\d+ {2}late +0 {2}duplicated +0 {2}kills +\d+$/m,
  );
  expect(program.output(), "piped output has no escape codes").not.toContain("\u001b");
});

test("after Ctrl-C the remaining messages are delivered, and nothing is left in your database", async () => {
  const { url, pool } = await database();
  await using program = start("examples/cluster/main.ts", [], { DATABASE_URL: url });
  // `npm test` does not wait for the first kill.
  await program.printed(isLong ? / kills +[1-9]/ : / sent +[1-9]/);
  await program.interrupt();
  const { sent, delivered } = await totalsOf(program);
  expect(delivered).toBe(sent);
  const { rows } = await pool().query("SELECT FROM pg_namespace WHERE nspname LIKE 'tidings%'");
  expect(rows).toHaveLength(0);
});
