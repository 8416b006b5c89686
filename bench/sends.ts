import { type Recipients, meet, send, type StorageName, withEngine } from "./engines.ts";
import { concurrently, type Contender, medians } from "./measure.ts";
import { prepare, type Prepared, replay } from "./raw.ts";
import { count, ratio, table } from "./table.ts";

const rounds = 5;
/** How many sends wait at a time, and how many are measured: one commit each takes longer, and fewer are enough to tell. */
const loads = [
  { atOnce: 1, items: 2_000 },
  { atOnce: 16, items: 12_000 },
  { atOnce: 256, items: 30_000 },
] as const;
type Load = (typeof loads)[number];

const onDisk = ({ atOnce }: Load): string => `${atOnce} at once: SQLite`;
const inMemory = ({ atOnce }: Load): string => `${atOnce} at once: memory`;
const raw = ({ atOnce }: Load): string => `${atOnce} at once: raw`;
const rowsAlone = ({ atOnce }: Load): string => `${atOnce} at once: raw, rows alone`;

/**
 * Sends in process, beside node:sqlite that does the same reads and writes the same rows in the same groups: at 1 one transaction each,
 * at 256 up to 128 in one.
 */
export async function sends(): Promise<string> {
  const summary: string[] = [];
  for (const recipients of ["existing", "new"] as const) {
    const contenders: Contender[] = [];
    for (const load of loads) contenders.push(...(await contendersOf(recipients, load)));
    const rates = await medians(contenders, rounds);
    console.log(`\nSends a second, in process, to ${recipients} recipients\n`);
    console.log(report(rates));
    const ratios = loads.map((load) =>
      ratio((rates.get(onDisk(load)) ?? 0) / (rates.get(raw(load)) ?? 1)),
    );
    summary.push(`${ratios.join(" / ")} to ${recipients} recipients`);
  }
  return `sends on SQLite of raw SQLite at ${loads.map(({ atOnce }) => atOnce).join(" / ")} at once: ${summary.join(", ")}`;
}

async function contendersOf(recipients: Recipients, load: Load): Promise<Contender[]> {
  const { items, atOnce } = load;
  const prepared: Prepared = await prepare(recipients, items, atOnce);
  const engine = (name: string, storage: StorageName): Contender => ({
    name,
    run: () =>
      withEngine(storage, async (each) => {
        await meet(each);
        return { items, ms: await concurrently(items, atOnce, (i) => send(each, recipients, i)) };
      }),
  });
  return [
    { name: raw(load), run: () => replay(prepared, "with reads") },
    { name: rowsAlone(load), run: () => replay(prepared, "rows alone") },
    engine(onDisk(load), "SQLite"),
    engine(inMemory(load), "memory"),
  ];
}

function report(rates: ReadonlyMap<string, number>): string {
  const lines = loads.flatMap((load) =>
    [raw(load), rowsAlone(load), onDisk(load), inMemory(load)].map((name) => {
      const rate = rates.get(name) ?? 0;
      const [base = 1, bareRows = 1] = [rates.get(raw(load)), rates.get(rowsAlone(load))];
      return [name, count(rate), ratio(rate / base), ratio(rate / bareRows)];
    }),
  );
  return table(["", "a second", "of raw", "of rows alone"], lines);
}
