/** `npm run crash -- --storage sqlite|postgres --kills 50 [--cut] [--seed 1]`; `--cut` cuts connections too. */
import { parseArgs } from "node:util";
import { groups } from "./groups.ts";
import { crash } from "./judge.ts";
import { crashedStorage, storageNames } from "./crashed-storage.ts";

const { values } = parseArgs({
  options: {
    storage: { type: "string", default: "sqlite" },
    kills: { type: "string", default: "50" },
    cut: { type: "boolean", default: false },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
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
  console.error(
    `usage: npm run crash -- [--storage ${storageNames.join("|")}] [--kills N] [--cut] [--seed N]`,
  );
  process.exit(2);
}

await using storage = await crashedStorage(name);
console.log(`seed ${seed}`);
const { lost, doubled, broken, acknowledged, ledger, posts } = await crash({
  storage,
  kills,
  cut: values.cut,
  seed,
  log: console.log,
});
const wrong = [...lost, ...doubled, ...broken];
for (const line of wrong.slice(0, 50)) console.error(line);
if (wrong.length > 50) console.error(`… and ${wrong.length - 50} more`);

const count = (n: number): string => n.toLocaleString("en");
const ends = groups(ledger.calls, ({ end }) => end);
const calls = [...ends].map(([end, each]) => `${count(each.length)} ${end}`).join(", ");
const answers = groups(ledger.lookups, ({ answer }) => answer);
const lookups = [...answers].map(([answer, each]) => `${count(each.length)} ${answer}`).join(", ");
const events = groups(posts, ({ endpoint, event_id }) => `${endpoint} ${event_id}`).size;
console.log(
  `carrier calls: ${calls}; look-ups: ${lookups}; webhooks: ${count(events)} events in ${count(posts.length)} requests`,
);
const rest = broken.length === 0 ? "" : `, ${count(broken.length)} otherwise broken`;
console.log(
  `crash: ${storage.name}, ${kills} kills${values.cut ? ", connections cut" : ""}, ${count(acknowledged)} acknowledged, ` +
    `${count(lost.length)} lost, ${count(doubled.length)} doubled${rest}`,
);
if (wrong.length > 0) process.exitCode = 1;
