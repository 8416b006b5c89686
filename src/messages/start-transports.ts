/** Starts and stops the transports of an engine. */
import { TidingsError, withDeadline } from "../kernel/index.ts";
import type { Runtime } from "../operations/index.ts";
import type { Clock, Logger, Transport } from "../ports/index.ts";
import { transportSink } from "./record-reports.ts";

/** How long a transport may take to start, in milliseconds. */
const startMs = 30_000;
/**
 * Overdue starts. Each promise resolves when the late start has ended and the transport is
 * stopped.
 */
const overdue = new WeakMap<Transport, Promise<void>>();
/** How long started transports may take to stop after another failed to start, in milliseconds. */
const undoMs = 10_000;

/**
 * Starts the transports in order. If one fails, stops the started ones and rethrows its error. A
 * stop of the engine waits for this until its deadline. Then `hurry` aborts.
 */
export async function startTransports(
  transports: readonly Transport[],
  runtime: Runtime,
  hurry: AbortSignal,
): Promise<void> {
  const started: Transport[] = [];
  try {
    for (const transport of transports) {
      await start(transport, runtime, hurry);
      started.push(transport);
    }
  } catch (error) {
    await stopTransports(started, hurry.aborted ? 0 : undoMs, runtime);
    throw error;
  }
}

async function start(transport: Transport, runtime: Runtime, hurry: AbortSignal): Promise<void> {
  const { clock, logger } = runtime;
  const { name } = transport;
  if (!(await isInTime(clock, overdue.get(transport), hurry))) throw notStarted(name, hurry);
  const starting = transport.start?.({
    sink: transportSink(name, runtime),
    clock,
    logger,
  });
  if (starting === undefined || (await isInTime(clock, starting, hurry))) return;
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
  throw notStarted(name, hurry);
}

async function isInTime(
  clock: Clock,
  work: Promise<void> | undefined,
  hurry: AbortSignal,
): Promise<boolean> {
  const started = async (): Promise<boolean> => {
    await work;
    return true;
  };
  try {
    return await withDeadline(clock, startMs, started, () => false, hurry);
  } catch (error) {
    if (hurry.aborted) return false;
    throw error;
  }
}

function notStarted(name: string, { aborted }: AbortSignal): TidingsError {
  return aborted
    ? new TidingsError(
        "shutting_down",
        `The engine was stopped before the transport ${name} had started.`,
      )
    : new TidingsError(
        "internal",
        `The transport ${name} did not start within ${startMs / 1_000} seconds.`,
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
