/** Creates the engine of each process. */
import pg from "pg";
import { MessagingEngine } from "tidings";
import { postgres } from "tidings/postgres";
import { carrierTransport, type CarrierSettings } from "./carrier-transport.ts";
import { fastClock } from "./fast-clock.ts";

export interface Settings {
  readonly databaseUrl: string;
  /** The PostgreSQL schema. */
  readonly schema: string;
  readonly carrier: CarrierSettings;
  /** When the fast clock started, in milliseconds since the epoch. */
  readonly startedAt: number;
}

export function openEngine({ databaseUrl, schema, carrier, startedAt }: Settings): MessagingEngine {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 5, allowExitOnIdle: true });
  // The pool replaces a broken idle connection when it needs one.
  pool.on("error", () => {});
  return new MessagingEngine({
    storage: postgres({ pool, schema }),
    transports: [carrierTransport(carrier)],
    clock: fastClock(startedAt),
    mode: "live",
  });
}

/** Creates the tables, an account and its sender. Returns an API key. */
export async function prepareAccount(settings: Settings): Promise<string> {
  const engine = openEngine(settings);
  try {
    const plan = { name: "load", requests_per_second: 100_000 };
    const { account } = await engine.accounts.create({ name: "Bakery", plan });
    const { senders, apiKeys } = engine.account(account.id);
    await senders.create({
      address: "+12125550100",
      channels: ["sms"],
      transport: settings.carrier.name,
    });
    const { secret } = await apiKeys.create({ name: "load" });
    return secret;
  } finally {
    await engine.stop();
  }
}
