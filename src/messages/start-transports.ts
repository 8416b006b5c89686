/** Starts and stops the transports of an engine. */
import { TidingsError, withDeadline } from "../kernel/index.ts";
import type { Runtime } from "../operations/index.ts";
import type { Clock, Logger, Transport } from "../ports/index.ts";
import { transportSink } from "./record-reports.ts";

/**
 * How long a transport may take to start, in milliseconds. Stopping the engine waits for a start.
 */
const startMs = 30_000;
/**
 * Overdue starts. Each promise resolves when the late start has ended and the transport is
 * stopped.
 */
const overdue = new WeakMap<Transport, Promise<void>>();
/** How long started transports may take to stop after another failed to start, in milliseconds. */
const undoMs = 10_000;

/** Starts the transports in order. If one fails, stops the started ones and rethrows its error. */
export async function startTransports(
  transports: readonly Transport[],
  runtime: Runtime,
): Promise<void> {
  const started: Transport[] = [];
  try {
    for (const transport of transports) {
      await start(transport, runtime);
      started.push(transport);
    }
  } catch (error) {
    await stopTransports(started, undoMs, runtime);
    throw error;
  }
}

async function start(transport: Transport, runtime: Runtime): Promise<void> {
  const { clock, logger } = runtime;
  const { name } = transport;
  const late = new TidingsError(
    "internal",
    `The transport ${name} did not start within ${startMs / 1_000} seconds.`,
  );
  if (!(await isInTime(clock, overdue.get(transport)))) throw late;
  const starting = transport.start?.({
    sink: transportSink(name, runtime),
    clock,
    logger,
  });
  if (starting === undefined || (await isInTime(clock, starting))) return;
  // If it starts after all, nothing else would stop it.
  const undone = starting.then(
    () => stop(transport, logger),
    (error: unknown) =>
      logger.warn(
        { err: error, transport: name },
        "a transport failed to start, long after its deadline",
      ),
  );
  overdue.set(transport, undone);
  throw late;
}

function isInTime(clock: Clock, work: Promise<void> | undefined): Promise<boolean> {
  return withDeadline(
    clock,
    startMs,
    async () => {
      await work;
      return true;
    },
    () => false,
  );
}

/**
 * Stops transports in reverse order. One that throws or hangs does not delay the others past the
 * deadline.
 */
export async function stopTransports(
  transports: readonly Transport[],
  deadlineMs: number,
  { clock, logger }: Pick<Runtime, "clock" | "logger">,
): Promise<void> {
  const end = clock.monotonic() + deadlineMs;
  for (const transport of transports.toReversed()) {
    // Yields to the event loop at least once, even after the deadline.
    const left = Math.max(end - clock.monotonic(), 0);
    const late = (): void =>
      logger.warn({ transport: transport.name }, "a transport did not stop in time");
    await withDeadline(clock, left, () => stop(transport, logger), late);
  }
}

async function stop(transport: Transport, logger: Logger): Promise<void> {
  try {
    await transport.stop?.();
  } catch (error) {
    logger.warn({ err: error, transport: transport.name }, "a transport did not stop cleanly");
  }
}
