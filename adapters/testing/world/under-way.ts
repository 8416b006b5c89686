import type { OpenCall } from "./calls.ts";
import type { EngineProcess, WorldTransport } from "./engine-process.ts";

/** The parts of a world in which something can be under way. */
export interface MovingParts<Tx extends object | undefined> {
  readonly processes: readonly EngineProcess<Tx>[];
  readonly calls: ReadonlySet<OpenCall>;
  readonly transports: readonly WorldTransport[];
  /** Milliseconds since the world began. */
  readonly now: number;
}

/**
 * What is under way outside of the storage, one sentence each. Partitions are left out: their end
 * is not known, and `stopFaults` ends them.
 */
export function underWay<Tx extends object | undefined>({
  processes,
  calls,
  transports,
  now,
}: MovingParts<Tx>): readonly string[] {
  return [
    ...processes.flatMap(whyDown),
    ...processes
      .filter(({ run }) => run.outages.some(({ until }) => until > now && until !== Infinity))
      .map(({ name }) => `${name} cannot reach the storage`),
    ...[...calls]
      .filter(({ run }) => run?.isAlive !== false)
      .map(({ text }) => (text === undefined ? "a call" : `the call "${text}"`))
      .map((call) => `${call} is not answered`),
    ...transports.flatMap(undelivered),
  ];
}

function whyDown<Tx extends object | undefined>({
  name,
  engine,
  failure,
}: EngineProcess<Tx>): readonly string[] {
  if (failure !== undefined) return [`${name} cannot start: ${failure}`];
  return engine === undefined ? [`${name} is down`] : [];
}

function undelivered(transport: WorldTransport): readonly string[] {
  if (typeof transport === "function" || transport.undelivered === 0) return [];
  const { name, undelivered: count } = transport;
  return [`no engine accepts ${count} receipts and texts of the carrier ${name}`];
}
