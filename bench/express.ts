import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { recipient, scratch, text } from "./engines.ts";
import { load, postRequest } from "./load.ts";
import { type Contender, medians, type Work } from "./measure.ts";
import { count, ratio, table } from "./table.ts";

const requests = 6_000;
const warmUp = 1_000;
const sockets = 64;
const rounds = 5;

const bare = "bare Express";
const onSqlite = "POST /v1/messages, SQLite";
const onMemory = "POST /v1/messages, memory";

/** POST /v1/messages through Express, beside a bare handler that parses the JSON and answers the same. */
export function express(): Promise<string> {
  return scratch(async (file) => {
    const [sqlite, memory] = await Promise.all([serve(file), serve("")]);
    try {
      const contenders: Contender[] = [
        { name: bare, run: () => measured(memory, "/bare") },
        { name: onSqlite, run: () => measured(sqlite, "/v1/messages") },
        { name: onMemory, run: () => measured(memory, "/v1/messages") },
      ];
      // The first requests meet cold code.
      for (const { run } of contenders) await run();
      const rates = await medians(contenders, rounds);
      const base = rates.get(bare) ?? 1;
      console.log(
        `\nRequests a second over ${sockets} keep-alive connections, client and server in a process each\n`,
      );
      console.log(
        table(
          ["", "a second", "of bare"],
          [...rates].map(([name, rate]) => [name, count(rate), ratio(rate / base)]),
        ),
      );
      const [disk = 0, ram = 0] = [rates.get(onSqlite), rates.get(onMemory)];
      return `Express of bare: SQLite ${ratio(disk / base)}, memory ${ratio(ram / base)}`;
    } finally {
      await Promise.all([sqlite.stop(), memory.stop()]);
    }
  });
}

interface Served {
  readonly port: number;
  readonly secret: string;
  stop(): Promise<void>;
}

async function serve(file: string): Promise<Served> {
  const script = new URL("./express-server.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [script, file], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const { port, secret } = JSON.parse(line) as { port: number; secret: string };
  return {
    port,
    secret,
    async stop() {
      const ended = once(child, "exit");
      child.kill();
      await ended;
    },
  };
}

let sent = 0;

async function measured({ port, secret }: Served, path: string): Promise<Work> {
  const prepared = Array.from({ length: warmUp + requests }, () => {
    const headers = { Authorization: `Bearer ${secret}`, "Idempotency-Key": `load-${sent}` };
    return postRequest(
      path,
      headers,
      JSON.stringify({ to: recipient("existing", sent++), body: text }),
    );
  });
  await load(port, sockets, prepared.slice(0, warmUp));
  return { items: requests, ms: await load(port, sockets, prepared.slice(warmUp)) };
}
