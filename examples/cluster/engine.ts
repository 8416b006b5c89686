/** What the three processes have in common, and all that they share: a database. */
import pg from "pg";
import { MessagingEngine } from "tidings";
import { postgres } from "tidings/postgres";
import { system } from "tidings/system";
import { fastClock } from "./clock.ts";
import { carrierTransport, type CarrierSettings } from "./transport.ts";

export interface Settings {
  /** Of the database. */
  readonly url: string;
  /** The PostgreSQL schema in it. */
  readonly schema: string;
  readonly carrier: CarrierSettings;
  /** When time began to run fast, in milliseconds since the epoch. */
  readonly began: number;
}

export function openEngine({ url, schema, carrier, began }: Settings): MessagingEngine {
  const pool = new pg.Pool({ connectionString: url, max: 5, allowExitOnIdle: true });
  // An idle connection that breaks is replaced when it is needed.
  pool.on("error", () => {});
  return new MessagingEngine({
    ...system(),
    storage: postgres({ pool, schema }),
    transports: [carrierTransport(carrier)],
    clock: fastClock(began),
    mode: "live",
  });
}

/** Makes the tables, an account and its sender. Answers an API key. */
export async function prepare(settings: Settings): Promise<string> {
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
    return secret ?? "";
  } finally {
    await engine.stop();
  }
}
