/**
 * `npm run crash -- --storage sqlite|postgres --kills 50 [--cut] [--seed 1]`
 *
 * The seed chooses the mishap that comes with each kill: none, a full disk, a limit of the size of
 * files, a read-only file system, a torn log; on PostgreSQL, the kill of the server too.
 * `--cut` also cuts the engines' connections to PostgreSQL.
 */
import { parseArgs } from "node:util";
import { crash } from "./crash.ts";
import { crashedStorage, storageNames } from "./storages/crashed-storage.ts";

const { values } = parseArgs({
  options: {
    storage: { type: "string", default: "sqlite" },
    kills: { type: "string", default: "50" },
    cut: { type: "boolean", default: false },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    help: { type: "boolean", default: false },
  },
});
const usage = `usage: npm run crash -- [--storage ${storageNames.join("|")}] [--kills N] [--cut] [--seed N]`;
if (values.help) {
  console.log(usage);
  process.exit();
}
const kills = Number(values.kills);
const seed = Number(values.seed);
const name = storageNames.find((each) => each === values.storage);
if (
  name === undefined ||
  (values.cut && name === "sqlite") ||
  !(kills >= 1) ||
  !Number.isInteger(kills) ||
  !Number.isFinite(seed)
) {
  console.error(usage);
  process.exit(2);
}

await using storage = await crashedStorage(name);
console.log(`seed ${seed}`);
const { lost, duplicated, violations, acknowledged, ledger, requests, mishaps, unavailable } =
  await crash({
    storage,
    kills,
    cut: values.cut,
    seed,
    log: console.log,
  });
const shown = 25;
const kindsOfProblems = { lost, duplicated, "other violations": violations };
for (const [kind, problems] of Object.entries(kindsOfProblems)) {
  for (const line of problems.slice(0, shown)) console.error(`${kind}: ${line}`);
  if (problems.length > shown) console.error(`${kind}: … and ${problems.length - shown} more`);
}

const count = (n: number): string => n.toLocaleString("en");
const ends = Map.groupBy(ledger.calls, ({ end }) => end);
const calls = [...ends].map(([end, each]) => `${count(each.length)} ${end}`).join(", ");
const answers = Map.groupBy(ledger.lookups, ({ answer }) => answer);
const lookups = [...answers].map(([answer, each]) => `${count(each.length)} ${answer}`).join(", ");
const events = Map.groupBy(requests, ({ endpoint, event_id }) => `${endpoint} ${event_id}`).size;
console.log(
  `carrier calls: ${calls}; look-ups: ${lookups}; webhooks: ${count(events)} events in ${count(requests.length)} requests`,
);
const kinds = [...mishaps].map(([kind, each]) => `${count(each)} ${kind}`).join(", ");
const others = violations.length === 0 ? "" : `, ${count(violations.length)} other violations`;
console.log(
  `crash: ${storage.name}, ${kills} kills (${kinds})${values.cut ? ", connections cut" : ""}: ` +
    `${count(acknowledged)} messages acknowledged, ${count(unavailable)} requests answered 503, ` +
    `${count(lost.length)} lost, ${count(duplicated.length)} duplicated${others}`,
);
if (Object.values(kindsOfProblems).flat().length > 0) process.exitCode = 1;
