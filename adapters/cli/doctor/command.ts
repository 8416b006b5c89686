import { parseArguments } from "../arguments.ts";
import type { Command } from "../command.ts";
import { databaseOptions, databaseUsage } from "../database/choose.ts";
import { bold, dim, green, print, red, yellow } from "../terminal.ts";
import { checkDatabase } from "./database-checks.ts";
import type { Finding } from "./finding.ts";
import { checkClock, checkNode } from "./machine-checks.ts";

const usage = [
  `${bold("Usage:")} tidings doctor`,
  "",
  "Checks Node, the database, the clock, the transports and the work that waits, and says what",
  "to do. It changes no data. The exit status is 1 if something is wrong.",
  "",
  ...databaseUsage,
].join("\n");

async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArguments(usage, args, databaseOptions);
  const findings: Finding[] = [checkNode(process.versions.node), checkClock()];
  for (const finding of findings) show(finding);
  for await (const finding of checkDatabase(values, usage)) {
    findings.push(finding);
    show(finding);
  }
  print("", summaryOf(findings));
  if (findings.some(({ level }) => level === "wrong")) process.exitCode = 1;
}

function summaryOf(findings: readonly Finding[]): string {
  const count = (wanted: Finding["level"]): number =>
    findings.filter(({ level }) => level === wanted).length;
  const counts = [
    { kind: "Problems", found: count("wrong") },
    { kind: "Possible problems", found: count("doubtful") },
  ].filter(({ found }) => found > 0);
  if (counts.length === 0) return "Nothing is wrong.";
  return counts.map(({ kind, found }) => `${kind}: ${found}.`).join(" ");
}

const marks = { good: green("✓"), doubtful: yellow("!"), wrong: red("✗") } as const;
const width = 12;

function show({ level, topic, text, advice = [] }: Finding): void {
  print(`${marks[level]} ${bold(topic.padEnd(width))}${text}`);
  for (const line of advice) print(`  ${" ".repeat(width)}${dim(line)}`);
}

export const doctor: Command = { usage, run };
