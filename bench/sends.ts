import { type Recipients, meet, send, type StorageName, withEngine } from "./engines.ts";
import { concurrently, type Contender, medians, type Work } from "./measure.ts";
import { record, type Recording, replay } from "./raw.ts";
import { count, ratio, table } from "./table.ts";

const items = 6_000;
/** One commit each takes longer: fewer are enough to tell. */
const itemsOneByOne = 1_500;
const rounds = 5;
const groups = 256;

/** Sends in process, beside node:sqlite doing the same reads and writing the same rows. */
export async function sends(): Promise<string> {
  const summary: string[] = [];
  for (const recipients of ["existing", "new"] as const) {
    const single = await record(recipients, itemsOneByOne, 1);
    const grouped = await record(recipients, items, groups);
    const rates = await medians(contenders(recipients, single, grouped), rounds);
    console.log(`\nSends a second, in process, to ${recipients} recipients (groups of ${groupSize(grouped)} in the raw ones)\n`);
    console.log(report(rates));
    const [engine = 0, raw = 1] = [rates.get("SQLite, 256 at once"), rates.get("raw, in groups")];
    summary.push(`${recipients} ${ratio(engine / raw)}`);
  }
  return `sends of raw at 256 at once: ${summary.join(", ")}`;
}

function contenders(recipients: Recipients, single: Recording, grouped: Recording): Contender[] {
  const engine = (storage: StorageName, atOnce: number): Contender => ({
    name: `${storage}, ${atOnce} at once`,
    run: () => accept(storage, recipients, atOnce),
  });
  return [
    { name: "raw, one by one", run: () => replay(single, "with reads") },
    { name: "raw, one by one, rows alone", run: () => replay(single, "rows alone") },
    engine("SQLite", 1),
    { name: "raw, in groups", run: () => replay(grouped, "with reads") },
    { name: "raw, in groups, rows alone", run: () => replay(grouped, "rows alone") },
    engine("SQLite", 16),
    engine("SQLite", 256),
    engine("memory", 1),
    engine("memory", 16),
    engine("memory", 256),
  ];
}

function accept(storage: StorageName, recipients: Recipients, atOnce: number): Promise<Work> {
  return withEngine(storage, async (engine) => {
    await meet(engine);
    const times = atOnce === 1 ? itemsOneByOne : items;
    return { items: times, ms: await concurrently(times, atOnce, (i) => send(engine, recipients, i)) };
  });
}

function report(rates: ReadonlyMap<string, number>): string {
  const beside = (name: string, raw: string): string => {
    const [rate = 0, base = 1] = [rates.get(name), rates.get(raw)];
    return name.startsWith("memory") ? "" : ratio(rate / base);
  };
  const lines = [...rates].map(([name, rate]) => {
    const kind = name.endsWith(" 1 at once") || name.includes("one by one") ? "raw, one by one" : "raw, in groups";
    return [name, count(rate), beside(name, kind), beside(name, `${kind}, rows alone`)];
  });
  return table(["", "a second", "of raw", "of rows alone"], lines);
}

function groupSize({ sends: commits, items: sent }: Recording): string {
  return count(sent / commits.length);
}
