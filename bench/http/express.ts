import { recipient, text, withTempFile } from "../support/engines.ts";
import {
  count,
  median,
  medians,
  ratio,
  scaled,
  table,
  type Contender,
  type Work,
} from "../support/measure.ts";
import { load, postRequest, serve, type ServerProcess } from "./load.ts";
import type { StepTimes } from "./steps.ts";

const requests = scaled(6_000);
const warmUp = scaled(1_000);
const connections = 64;
const rounds = 5;
const profiledRounds = 3;

const bare = "bare Express handler";
const onSqlite = "POST /v1/messages on SQLite";
const onMemory = "POST /v1/messages on memory";

/**
 * POST /v1/messages through Express, and a bare handler that parses and returns the same JSON. And
 * the CPU time of each step of a request.
 */
export function express(): Promise<string> {
  return withTempFile(async (file) => {
    const [sqlite, memory] = await Promise.all([serve(file), serve("")]);
    const cpu = new Map<string, number[]>();
    const measured = async (name: string, server: ServerProcess, path: string): Promise<Work> => {
      const { work, total } = await measure(server, path);
      cpu.set(name, [...(cpu.get(name) ?? []), total]);
      return work;
    };
    try {
      const contenders: Contender[] = [
        { name: bare, run: () => measured(bare, memory, "/bare") },
        { name: onSqlite, run: () => measured(onSqlite, sqlite, "/v1/messages") },
        { name: onMemory, run: () => measured(onMemory, memory, "/v1/messages") },
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
          ["", "per second", "ratio to bare", "CPU µs each"],
          [...rates].map(([name, rate]) => [
            name,
            count(rate),
            ratio(rate / base),
            median(cpu.get(name) ?? []).toFixed(0),
          ]),
        ),
      );
      await showSteps(memory, median(cpu.get(onMemory) ?? []));
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

interface Measured {
  readonly work: Work;
  /** CPU microseconds per request. */
  readonly total: number;
  readonly steps: StepTimes;
}

/** Sends requests to a path of a server. */
async function measure(server: ServerProcess, path: string, profile = false): Promise<Measured> {
  const { port, secret } = server;
  const prepared = Array.from({ length: warmUp + requests }, () => {
    const headers = { Authorization: `Bearer ${secret}`, "Idempotency-Key": `load-${sent}` };
    const body = JSON.stringify({ to: recipient("existing", sent++), body: text });
    return postRequest(path, headers, body);
  });
  await load(port, connections, prepared.slice(0, warmUp));
  let ms = 0;
  const { total, steps = {} } = await server.cpuOf(
    async () => (ms = await load(port, connections, prepared.slice(warmUp))),
    { profile },
  );
  return { work: { items: requests, ms }, total: total / requests, steps };
}

/**
 * Shows what each step of a request costs. A profile gives the shares. It measures the time on the
 * clock, so the CPU time comes from rounds without a profile.
 */
async function showSteps(server: ServerProcess, cpuUs: number): Promise<void> {
  const times = new Map<string, number>();
  for (let i = 0; i < profiledRounds; i++) {
    const { steps } = await measure(server, "/v1/messages", true);
    for (const [name, us] of Object.entries(steps)) times.set(name, (times.get(name) ?? 0) + us);
  }
  const all = [...times.values()].reduce((sum, us) => sum + us, 0);
  const rows = [...times].toSorted(([, a], [, b]) => b - a);
  console.log("\nSteps of POST /v1/messages on memory, in a CPU profile\n");
  console.log(
    table(
      ["", "share", "CPU µs each"],
      rows.map(([name, us]) => [
        name,
        `${((100 * us) / all).toFixed(1)} %`,
        ((cpuUs * us) / all).toFixed(1),
      ]),
    ),
  );
}
