/** Reads the visitor's stream. The token is in a header, since logs contain addresses. */
import type {
  WebchatMessage,
  WebchatSignal,
  WebchatState,
  WebchatTyping,
} from "../../../../../src/index.ts";
import { eventParser } from "../../../shared/browser/connection/event-parser.ts";
import type { Session } from "./session.ts";
import type { VisitorApi } from "./visitor-api.ts";

/** A message or its redaction, with its number in the visitor's mailbox. */
export interface Arrival {
  readonly number: number;
  readonly message: WebchatMessage;
}

/** Where a stream begins, and what is called with what arrives. */
export interface StreamReader {
  /** The number of the last message that arrived. */
  readonly after: number;
  readonly signal: AbortSignal;
  readonly onOpen: () => void;
  readonly onArrival: (arrival: Arrival) => void;
  readonly onRedaction: (redaction: Arrival) => void;
  readonly onSignal: (signal: WebchatSignal) => void;
}

/** How long a stream may be silent. The server writes a comment every 15 s. */
const silenceMs = 45_000;

/** Resolves when the server ends the stream. Rejects when the connection is lost or is silent. */
export async function readStream(
  api: VisitorApi,
  session: Session,
  { after, signal, onOpen, onArrival, onRedaction, onSignal }: StreamReader,
): Promise<void> {
  const silence = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const noteData = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), silenceMs);
  };
  noteData();
  try {
    const response = await api.request(session, "stream", {
      headers: { Accept: "text/event-stream", "Last-Event-ID": String(after) },
      signal: AbortSignal.any([signal, silence.signal]),
    });
    onOpen();
    const parse = eventParser(({ id, type, data }) => {
      if (type === "message" || type === "redaction") {
        const tell = type === "message" ? onArrival : onRedaction;
        tell({ number: Number(id), message: JSON.parse(data) as WebchatMessage });
      } else if (type === "state") onSignal({ type, state: JSON.parse(data) as WebchatState });
      else if (type === "typing") onSignal({ type, typing: JSON.parse(data) as WebchatTyping });
    });
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
