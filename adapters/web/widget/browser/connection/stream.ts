/** Reads the visitor's stream. The token is in a header, since logs contain addresses. */
import type {
  WebchatMessage,
  WebchatSignal,
  WebchatState,
  WebchatTyping,
} from "../../../../../src/index.ts";
import { readEvents } from "../../../shared/browser/connection/read-events.ts";
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

/** Resolves when the server ends the stream. Rejects when the connection is lost or is silent. */
export const readStream = (
  api: VisitorApi,
  session: Session,
  { after, signal, onOpen, onArrival, onRedaction, onSignal }: StreamReader,
): Promise<void> =>
  readEvents(
    async (anySignal) => {
      const headers = { Accept: "text/event-stream", "Last-Event-ID": String(after) };
      const response = await api.request(session, "stream", { headers, signal: anySignal });
      onOpen();
      return response;
    },
    ({ id, type, data }) => {
      if (type === "message" || type === "redaction") {
        const tell = type === "message" ? onArrival : onRedaction;
        tell({ number: Number(id), message: JSON.parse(data) as WebchatMessage });
      } else if (type === "state") onSignal({ type, state: JSON.parse(data) as WebchatState });
      else if (type === "typing") onSignal({ type, typing: JSON.parse(data) as WebchatTyping });
    },
    signal,
  );
