import { eventParser, type StreamedEvent } from "./event-parser.ts";

/** How long a stream may be silent. The server writes a comment every 15 s. */
const silenceMs = 45_000;
const checkMs = 5000;

/**
 * Reads a stream of server-sent events until the server ends it. `open` requests it with a signal
 * that aborts with `stopped`, and when the stream is silent. Rejects when the signal aborts, when
 * the connection is lost, and when `open` rejects.
 */
export async function readEvents(
  open: (signal: AbortSignal) => Promise<Response>,
  onEvent: (event: StreamedEvent) => void,
  stopped: AbortSignal,
): Promise<void> {
  const silence = new AbortController();
  // Timers stand still while a laptop sleeps, and its clock does not.
  let lastAt = Date.now();
  const timer = setInterval(() => {
    if (Math.abs(Date.now() - lastAt) > silenceMs) silence.abort();
  }, checkMs);
  try {
    const response = await open(AbortSignal.any([stopped, silence.signal]));
    const parse = eventParser(onEvent);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const read = await reader?.read();
      if (read === undefined || read.done) return;
      lastAt = Date.now();
      parse(read.value);
    }
  } finally {
    clearInterval(timer);
  }
}
