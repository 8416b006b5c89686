/**
 * `npm run fuzz` sends the engine what clients, carriers, receivers and models should not send.
 *
 *     --minutes M   goes on with further seeds for M minutes (default 1)
 *     --seed S      the first seed (default: drawn from the clock)
 *     --area A      only this area
 *     --path P      repeats one failing case, which needs --area and --seed
 */
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { areaNames } from "./area.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    area: { type: "string" },
    path: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
const names = areaNames.join("|");
const usage = `usage: npm run fuzz -- [--minutes M] [--seed S] [--area ${names}] [--path P]`;
if (values.help) {
  console.log(usage);
  process.exit();
}
const minutes = Number(values.minutes);
const first = Number(values.seed);
const isKnown = values.area === undefined || areaNames.some((name) => name === values.area);
if (!(minutes > 0) || !Number.isSafeInteger(first) || !isKnown) {
  console.error(usage);
  process.exit(2);
}

// Loaded last, since the whole engine takes long to load.
const { fuzz } = await import("./fuzz.ts");

/** Cases of an area of share 1, for each seed. */
const cases = 20;
/** How much more memory than after the first seed may be in use after a later one. */
const maxGrowth = 64 * 1_024 * 1_024;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function memoryInUse(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const tried = new Map<string, number>();
const endsAt = Date.now() + minutes * 60_000;
let failure: string | undefined;
let seed = first;
let atFirst: number | undefined;
let most = 0;
console.log(`seed ${first}`);
do {
  const result = await fuzz({ seed, cases, only: values.area, path: values.path });
  for (const [name, count] of result.tried) tried.set(name, (tried.get(name) ?? 0) + count);
  failure = result.failure;
  const used = memoryInUse();
  atFirst ??= used;
  most = Math.max(most, used);
  if (failure === undefined && used > atFirst + maxGrowth) {
    failure = `seed ${seed}: ${used} bytes are in use, and ${atFirst} were after the first seed.`;
  }
  seed++;
} while (failure === undefined && values.path === undefined && Date.now() < endsAt);

if (failure !== undefined) console.error(failure);
const count = (n: number): string => n.toLocaleString("en");
const did = [...tried].map(([name, n]) => `${count(n)} ${name}`).join(", ");
const outcome = failure === undefined ? "nothing broke" : "1 failure";
console.log(
  `fuzz: seeds ${first} to ${seed - 1}, cases: ${did}; at most ${Math.ceil(most / 2 ** 20)} MiB: ${outcome}`,
);
// Without this, Node 24 sometimes never ends: it waits for handles that are gone, at full load.
process.exit(failure === undefined ? 0 : 1);
