import { prepare, replay, type Prepared } from "./sqlite-replay.ts";
import {
  createContacts,
  send,
  withEngine,
  type Recipients,
  type StorageName,
} from "./support/engines.ts";
import {
  concurrently,
  count,
  medians,
  ratio,
  scaled,
  table,
  type Contender,
} from "./support/measure.ts";

const rounds = 5;
/** How many sends wait at a time, and how many are measured. Single sends take longer. */
const loads = [
  { atOnce: 1, items: scaled(2_000) },
  { atOnce: 16, items: scaled(12_000) },
  { atOnce: 256, items: scaled(30_000) },
] as const;
type Load = (typeof loads)[number];

const onDisk = ({ atOnce }: Load): string => `${atOnce} at once: SQLite`;
const inMemory = ({ atOnce }: Load): string => `${atOnce} at once: memory`;
const replayed = ({ atOnce }: Load): string => `${atOnce} at once: node:sqlite`;
const replayedWrites = ({ atOnce }: Load): string => `${atOnce} at once: node:sqlite, writes only`;

/**
 * Sends in process, and node:sqlite that repeats the same reads and writes in the same
 * transactions: one send each at 1 at a time, up to 128 sends at 256 at a time.
 */
export async function sends(): Promise<string> {
  const summary: string[] = [];
  for (const recipients of ["existing", "new"] as const) {
    const contenders: Contender[] = [];
    for (const load of loads) contenders.push(...(await contendersOf(recipients, load)));
    const rates = await medians(contenders, rounds);
    console.log(
      `\nSends per second, in process, to ${recipients} recipients (median of ${rounds} rounds)\n`,
    );
    console.log(report(rates));
    const ratios = loads.map((load) =>
      ratio((rates.get(onDisk(load)) ?? 0) / (rates.get(replayed(load)) ?? 1)),
    );
    summary.push(`${ratios.join(" / ")} to ${recipients} recipients`);
  }
  return (
    `sends: SQLite at ${loads.map(({ atOnce }) => atOnce).join(" / ")} at once reaches ` +
    `${summary.join(", ")} of node:sqlite's rate`
  );
}

async function contendersOf(recipients: Recipients, load: Load): Promise<Contender[]> {
  const { items, atOnce } = load;
  const prepared: Prepared = await prepare({ recipients, items, atOnce, until: "accepted" });
  const engine = (name: string, storage: StorageName): Contender => ({
    name,
    run: () =>
      withEngine(storage, async (each) => {
        await createContacts(each);
        return { items, ms: await concurrently(items, atOnce, (i) => send(each, recipients, i)) };
      }),
  });
  return [
    { name: replayed(load), run: () => replay(prepared, "with reads") },
    { name: replayedWrites(load), run: () => replay(prepared, "writes only") },
    engine(onDisk(load), "SQLite"),
    engine(inMemory(load), "memory"),
  ];
}

function report(rates: ReadonlyMap<string, number>): string {
  const lines = loads.flatMap((load) =>
    [replayed(load), replayedWrites(load), onDisk(load), inMemory(load)].map((name) => {
      const rate = rates.get(name) ?? 0;
      const [base = 1, writesOnly = 1] = [
        rates.get(replayed(load)),
        rates.get(replayedWrites(load)),
      ];
      return [name, count(rate), ratio(rate / base), ratio(rate / writesOnly)];
    }),
  );
  return table(["", "per second", "ratio to node:sqlite", "ratio to writes only"], lines);
}
