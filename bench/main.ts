/**
 * `npm run bench` runs benchmarks and prints the results. Nothing is asserted.
 *
 * Each benchmark has a file, or a folder if it consists of several. `support` has what they share.
 */
import { parseArgs } from "node:util";
import { agents } from "./agents.ts";
import { browser } from "./browser.ts";
import { cost } from "./cost/cost.ts";
import { delivery } from "./delivery.ts";
import { fairness } from "./fairness.ts";
import { express } from "./http/express.ts";
import { pipelining } from "./http/pipelining.ts";
import { streams } from "./http/streams.ts";
import { idle } from "./idle.ts";
import { imports } from "./import.ts";
import { policySends } from "./policies.ts";
import { postgres } from "./postgres/postgres.ts";
import { scale } from "./scale/scale.ts";
import { search } from "./search.ts";
import { sends } from "./sends.ts";
import { soak } from "./soak.ts";
import { startup } from "./startup.ts";
import { keepCoresBusy } from "./support/busy.ts";
import { webhooks } from "./webhooks/webhooks.ts";

const {
  values: { max, storage, minutes, busy, help },
  positionals: wanted,
} = parseArgs({
  allowPositionals: true,
  options: {
    max: { type: "string", default: "100000" },
    storage: { type: "string" },
    minutes: { type: "string", default: "5" },
    busy: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

const benchmarks: Readonly<Record<string, () => Promise<string>>> = {
  sends,
  policies: policySends,
  cost,
  express,
  pipelining,
  streams,
  delivery,
  idle,
  startup,
  fairness,
  webhooks,
  agents,
  search,
  scale: () => scale(Number(max), storage),
  soak: () => soak(Number(minutes)),
  import: imports,
  browser,
  postgres,
};

const usage = `usage: npm run bench [-- [options] [benchmark ...]]

Runs all benchmarks, or the named ones:
  ${Object.keys(benchmarks).join(" ")}

Options:
  --busy           keep each core busy with another process meanwhile
  --max N          the largest number of messages in "scale" (default 100000)
  --storage NAME   the only storage of "scale": sqlite or postgres
  --minutes N      how long "soak" runs (default 5)

Environment variables:
  TIDINGS_BENCH_SCALE=0.05       measure a twentieth of the items, to try out a benchmark quickly
  TIDINGS_BENCH_CONTACTS=100000  the number of contacts in "search" (default 1000000)`;
if (help) {
  console.log(usage);
  process.exit();
}
const unknown = wanted.filter((name) => !Object.hasOwn(benchmarks, name));
if (unknown.length > 0 || !(Number(max) >= 10_000) || !(Number(minutes) > 0)) {
  if (unknown.length > 0) console.error(`unknown benchmark: ${unknown.join(", ")}`);
  else console.error("--max has to be at least 10000, and --minutes more than 0");
  console.error(usage);
  process.exit(2);
}
const release = busy ? keepCoresBusy() : () => {};
const summaries: string[] = [];
for (const [name, benchmark] of Object.entries(benchmarks)) {
  if (wanted.length === 0 || wanted.includes(name)) summaries.push(await benchmark());
}
release();
console.log(`\nbench${busy ? ", all cores busy" : ""}: ${summaries.join("; ")}`);
