/** Starts and stops the transports of an engine. */
import { endsBefore, TidingsError, withDeadline } from "../../kernel/index.ts";
import type { Runtime } from "../../operations/index.ts";
import type { Clock, Logger, Transport } from "../../ports/index.ts";
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
 * stop of the engine waits for this until its deadline.
 */
export async function startTransports(
  transports: readonly Transport[],
  runtime: Runtime,
  stopDeadline: AbortSignal,
): Promise<void> {
  const started: Transport[] = [];
  try {
    for (const transport of transports) {
      await start(transport, runtime, stopDeadline);
      started.push(transport);
    }
  } catch (error) {
    await undoStart(started, runtime, stopDeadline);
    throw error;
  }
}

async function start(
  transport: Transport,
  runtime: Runtime,
  stopDeadline: AbortSignal,
): Promise<void> {
  const { clock, logger } = runtime;
  const { name } = transport;
  const isFree = await isInTime(clock, overdue.get(transport), stopDeadline);
  if (!isFree) throwNotStarted(name, stopDeadline);
  const starting = transport.start?.({
    sink: transportSink(name, runtime),
    clock,
    logger,
  });
  if (starting === undefined || (await isInTime(clock, starting, stopDeadline))) return;
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
  throwNotStarted(name, stopDeadline);
}

async function isInTime(
  clock: Clock,
  work: Promise<void> | undefined,
  stopDeadline: AbortSignal,
): Promise<boolean> {
  const started = async (): Promise<boolean> => {
    await work;
    return true;
  };
  try {
    return await withDeadline(clock, startMs, started, () => false, stopDeadline);
  } catch (error) {
    if (stopDeadline.aborted) return false;
    throw error;
  }
}

function throwNotStarted(name: string, stopDeadline: AbortSignal): never {
  stopDeadline.throwIfAborted();
  throw new TidingsError(
    "internal",
    `The transport ${name} did not start within ${startMs / 1_000} seconds.`,
  );
}

/** Stops transports after the engine has failed to start. */
export async function undoStart(
  transports: readonly Transport[],
  runtime: Pick<Runtime, "clock" | "logger">,
  stopDeadline: AbortSignal,
): Promise<void> {
  // Aborts after `undoMs`, or when all have stopped, so that the timer ends.
  const over = new AbortController();
  const deadline = AbortSignal.any([stopDeadline, over.signal]);
  void runtime.clock.sleep(undoMs, deadline).then(() => over.abort());
  await stopTransports(transports, deadline, runtime);
  over.abort();
}

/**
 * Stops transports in reverse order. One that throws or hangs does not delay the others past the
 * deadline.
 */
export async function stopTransports(
  transports: readonly Transport[],
  deadline: AbortSignal,
  { clock, logger }: Pick<Runtime, "clock" | "logger">,
): Promise<void> {
  for (const transport of transports.toReversed()) {
    const stopping = stop(transport, logger);
    // After the deadline, one that needs no time still stops in time.
    if (deadline.aborted) await clock.sleep(0);
    if (await endsBefore(deadline, stopping)) continue;
    logger.warn({ transport: transport.name }, "a transport did not stop in time");
  }
}

async function stop(transport: Transport, logger: Logger): Promise<void> {
  try {
    await transport.stop?.();
  } catch (error) {
    logger.warn({ err: error, transport: transport.name }, "a transport did not stop cleanly");
  }
}
