import { TidingsError } from "../kernel/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { Services } from "../operations/operation.ts";
import type { Transport } from "../ports/transport.ts";
import type { Store } from "../store/store.ts";
import { transportSink } from "./transport-sink.ts";

export interface TransportSurroundings {
  readonly store: Store;
  readonly services: Services;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long each may take to start, in milliseconds: who stops an engine meanwhile waits for that. */
const startMs = 30_000;
/** Of starts that took longer: when they have come to their end after all, and are undone. */
const overdue = new WeakMap<Transport, Promise<void>>();
/** How long transports may take to end where another one did not start, in milliseconds. */
const undoMs = 10_000;

/** Starts them in their order, all or none: where one fails, those before it are stopped, and its error is thrown. */
export async function startTransports(
  transports: readonly Transport[],
  surroundings: TransportSurroundings,
): Promise<void> {
  const started: Transport[] = [];
  try {
    for (const transport of transports) {
      await start(transport, surroundings);
      started.push(transport);
    }
  } catch (error) {
    await stopTransports(started, undoMs, surroundings);
    throw error;
  }
}

async function start(
  transport: Transport,
  { store, services, clock, logger }: TransportSurroundings,
): Promise<void> {
  const { name } = transport;
  const late = new TidingsError(
    "internal",
    `The transport ${name} did not start within ${startMs / 1_000} seconds.`,
  );
  if (!(await isInTime(clock, overdue.get(transport)))) throw late;
  const starting = transport.start?.({
    sink: transportSink(name, { store, services, logger }),
    clock,
    logger,
  });
  if (starting === undefined || (await isInTime(clock, starting))) return;
  // When it comes to that after all, nobody else is there to stop it.
  const undone = starting.then(
    () => stop(transport, logger),
    (error: unknown) =>
      logger.warn(
        { err: error, transport: name },
        "a transport failed to start, long after its time",
      ),
  );
  overdue.set(transport, undone);
  throw late;
}

async function isInTime(clock: Clock, work: Promise<void> | undefined): Promise<boolean> {
  const done = new AbortController();
  const late = clock.sleep(startMs, done.signal).then(() => false);
  try {
    return await Promise.race([Promise.resolve(work).then(() => true), late]);
  } finally {
    done.abort("done");
  }
}

/** The last that was started first. One that throws or hangs keeps the others from nothing. */
export async function stopTransports(
  transports: readonly Transport[],
  deadlineMs: number,
  { clock, logger }: Pick<TransportSurroundings, "clock" | "logger">,
): Promise<void> {
  const done = new AbortController();
  const deadline = clock.sleep(deadlineMs, done.signal);
  for (const transport of transports.toReversed()) {
    const stopping = stop(transport, logger);
    // What only needs a turn of the event loop has it, also when the deadline is over.
    const late = deadline.then(() => clock.sleep(0)).then(() => "late" as const);
    if ((await Promise.race([stopping, late])) === "late") {
      logger.warn({ transport: transport.name }, "a transport did not stop in time");
    }
  }
  done.abort();
}

async function stop(transport: Transport, logger: Logger): Promise<void> {
  try {
    await transport.stop?.();
  } catch (error) {
    logger.warn({ err: error, transport: transport.name }, "a transport did not stop cleanly");
  }
}
