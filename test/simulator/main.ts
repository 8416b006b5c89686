/**
 * `npm run simulate` runs the simulator.
 *
 *     --seeds N   runs N seeds, from 1 or from `--from` (default 300)
 *     --seed S    runs one seed
 *     --steps K   ends each history after K steps (default 150); use it to bisect a failure
 *     --keep      goes on after a violation
 *     --list      prints the actors and the invariants
 */
import { parseArgs } from "node:util";
import { actors } from "./actors/index.ts";
import { invariants } from "./invariants/index.ts";
import { defaultSteps, simulate } from "./simulate.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "300" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    steps: { type: "string", default: String(defaultSteps) },
    keep: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
  },
});

if (values.list) {
  for (const { does, group } of actors) console.log(`actor (${group}): ${does}`);
  for (const { name } of invariants) console.log(`invariant: ${name}`);
  process.exit(0);
}

const steps = whole("steps", values.steps);
const first = values.seed === undefined ? whole("from", values.from) : whole("seed", values.seed);
const count = values.seed === undefined ? whole("seeds", values.seeds) : 1;

const violated = new Map<string, number[]>();
let messages = 0;
let calls = 0;
let ran = 0;
for (let seed = first; seed < first + count; seed++) {
  const result = await simulate(seed, steps);
  ran++;
  messages += result.messages;
  calls += result.calls;
  if (result.failure === undefined || result.invariant === undefined) continue;
  const others = violated.get(result.invariant) ?? [];
  if (others.length === 0) console.log(`${result.failure}\n`);
  violated.set(result.invariant, [...others, seed]);
  if (!values.keep) break;
}

for (const [invariant, seeds] of violated) {
  console.log(`"${invariant}" violated by ${seeds.length} seeds: ${seeds.slice(0, 12).join(", ")}`);
}
const did = `${number(ran)} seeds, ${number(ran * steps)} steps, ${number(messages)} sends, ${number(calls)} carrier calls`;
const outcome =
  violated.size === 0
    ? `all ${invariants.length} invariants held`
    : `${violated.size} invariants violated`;
console.log(`simulate: ${did}: ${outcome}`);
process.exitCode = violated.size === 0 ? 0 : 1;

function whole(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new Error(`--${name}: expected a whole number, got ${text}`);
  }
  return value;
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}
