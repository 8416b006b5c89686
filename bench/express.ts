import { recipient, text, withTempFile } from "./engines.ts";
import { load, postRequest, serve, type ServerProcess } from "./http-load.ts";
import { type Contender, count, medians, ratio, scaled, table, type Work } from "./measure.ts";

const requests = scaled(6_000);
const warmUp = scaled(1_000);
const connections = 64;
const rounds = 5;

const bare = "bare Express handler";
const onSqlite = "POST /v1/messages on SQLite";
const onMemory = "POST /v1/messages on memory";

/** POST /v1/messages through Express, and a bare handler that parses and returns the same JSON. */
export function express(): Promise<string> {
  return withTempFile(async (file) => {
    const [sqlite, memory] = await Promise.all([serve(file), serve("")]);
    try {
      const contenders: Contender[] = [
        { name: bare, run: () => measured(memory, "/bare") },
        { name: onSqlite, run: () => measured(sqlite, "/v1/messages") },
        { name: onMemory, run: () => measured(memory, "/v1/messages") },
      ];
      // The first requests run before the code is optimized.
      for (const { run } of contenders) await run();
      const rates = await medians(contenders, rounds);
      const base = rates.get(bare) ?? 1;
      console.log(
        `\nRequests per second over ${connections} keep-alive connections` +
          ` (client and server in separate processes, ${count(requests)} requests, median of ` +
          `${rounds} rounds)\n`,
      );
      console.log(
        table(
          ["", "per second", "ratio to bare"],
          [...rates].map(([name, rate]) => [name, count(rate), ratio(rate / base)]),
        ),
      );
      const [sqliteRate = 0, memoryRate = 0] = [rates.get(onSqlite), rates.get(onMemory)];
      return (
        `express: ${ratio(sqliteRate / base)} of a bare handler's requests on SQLite, ` +
        `${ratio(memoryRate / base)} on memory`
      );
    } finally {
      await Promise.all([sqlite.stop(), memory.stop()]);
    }
  });
}

/** Makes every idempotency key of the benchmark a new one. */
let sent = 0;

async function measured({ port, secret }: ServerProcess, path: string): Promise<Work> {
  const prepared = Array.from({ length: warmUp + requests }, () => {
    const headers = { Authorization: `Bearer ${secret}`, "Idempotency-Key": `load-${sent}` };
    const body = JSON.stringify({ to: recipient("existing", sent++), body: text });
    return postRequest(path, headers, body);
  });
  await load(port, connections, prepared.slice(0, warmUp));
  return { items: requests, ms: await load(port, connections, prepared.slice(warmUp)) };
}
