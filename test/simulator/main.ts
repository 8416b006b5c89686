import { parseArgs } from "node:util";
import { defaultSeeds, defaultSteps } from "./defaults.ts";
import { invariants } from "./invariants/index.ts";
import { simulate } from "./run.ts";

/** `--seeds N` runs seeds 1 to N (or N from `--from`); `--seed S` runs one; `--steps K` cuts each short: bisect with it. */
const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: String(defaultSeeds) },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    steps: { type: "string", default: String(defaultSteps) },
    keep: { type: "boolean", default: false },
  },
});

const steps = whole("steps", values.steps);
const first = values.seed === undefined ? whole("from", values.from) : whole("seed", values.seed);
const count = values.seed === undefined ? whole("seeds", values.seeds) : 1;

const broken = new Map<string, number[]>();
let messages = 0;
let calls = 0;
let ran = 0;
for (let seed = first; seed < first + count; seed++) {
  const result = await simulate(seed, steps);
  ran++;
  messages += result.messages;
  calls += result.calls;
  if (result.story === undefined || result.invariant === undefined) continue;
  const others = broken.get(result.invariant) ?? [];
  if (others.length === 0) console.log(`${result.story}\n`);
  broken.set(result.invariant, [...others, seed]);
  if (!values.keep) break;
}

for (const [invariant, seeds] of broken) {
  console.log(`"${invariant}" broken by ${seeds.length} seeds: ${seeds.slice(0, 12).join(", ")}`);
}
const did = `${number(ran)} seeds, ${number(ran * steps)} steps, ${number(messages)} orders, ${number(calls)} carrier calls`;
console.log(
  `simulate: ${did}, ${broken.size === 0 ? `${invariants.length} invariants held` : `${broken.size} invariants broken`}`,
);
process.exitCode = broken.size === 0 ? 0 : 1;

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
