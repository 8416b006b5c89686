import { receiveFromCarrier } from "./receive.ts";
import { recordReceipt } from "./record-receipt.ts";
import { checkCallbackResult, checkInbound, checkReceipt } from "./transport-results.ts";
import type {
  CallbackResult,
  Clock,
  InboundMessage,
  Logger,
  Receipt,
  ReceiptSubject,
  Transport,
  TransportSink,
} from "../ports/index.ts";
import { background } from "../store/index.ts";
import type { Runtime } from "../operations/index.ts";
import { isAddress, TidingsError, withDeadline } from "../kernel/index.ts";

type Recording = Pick<Runtime, "store" | "services" | "logger">;

/** Returns the sink that checks and records a transport's receipts and inbound messages. */
function transportSink(transport: string, runtime: Recording): TransportSink {
  return {
    async receipt(subject, receipt) {
      checkReceipt(transport, subject, receipt);
      await storeReceipt(transport, subject, receipt, runtime);
    },
    async inbound(message, account_id) {
      checkInbound(transport, message);
      await storeInbound(transport, message, account_id, runtime);
    },
  };
}

/**
 * Records the receipts and messages that `parseCallback` returned. Returns the response to the
 * carrier.
 * @throws TypeError before anything is recorded if a part of the result has a wrong form
 */
export async function recordCallback(
  transport: string,
  result: unknown,
  runtime: Recording,
): Promise<CallbackResult["response"]> {
  checkCallbackResult(transport, result);
  await Promise.all([
    ...result.receipts.map(({ subject, receipt }) =>
      storeReceipt(transport, subject, receipt, runtime),
    ),
    ...result.inbound.map((message) => storeInbound(transport, message, undefined, runtime)),
  ]);
  return result.response;
}

async function storeReceipt(
  transport: string,
  subject: ReceiptSubject,
  receipt: Receipt,
  { store, services, logger }: Recording,
): Promise<void> {
  const outcome = await store.commitUnscoped(
    (tx) => recordReceipt(tx, transport, subject, receipt, services),
    background,
  );
  if (outcome === "unknown") {
    logger.warn({ transport }, "a receipt of an unknown attempt was dropped");
  }
}

async function storeInbound(
  transport: string,
  message: InboundMessage,
  account_id: string | undefined,
  { store, services, logger }: Recording,
): Promise<void> {
  // No message could be sent back, and databases limit what an index can hold.
  if (!isAddress(message.from)) {
    logger.warn({ transport }, "a message from something that is no address was dropped");
    return;
  }
  const outcome = await store.commitUnscoped(
    (tx) => receiveFromCarrier(tx, transport, message, account_id, services),
    background,
  );
  if (outcome === "unknown") {
    logger.warn(
      { transport },
      "a message was dropped: no sender of the transport's modes has its address, or several do",
    );
  }
}

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
