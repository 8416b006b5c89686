import { eventParser, type StreamedEvent } from "./event-parser.ts";

/** How long a stream may be silent. The server writes a comment every 15 s. */
const silenceMs = 45_000;

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
  let timer: ReturnType<typeof setTimeout> | undefined;
  const noteData = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), silenceMs);
  };
  noteData();
  try {
    const response = await open(AbortSignal.any([stopped, silence.signal]));
    const parse = eventParser(onEvent);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const read = await reader?.read();
      if (read === undefined || read.done) return;
      noteData();
      parse(read.value);
    }
  } finally {
    clearTimeout(timer);
  }
}
