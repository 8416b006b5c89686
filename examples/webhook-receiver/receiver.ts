/** Receives webhooks: verifies each request and handles each event once. Needs only the secret. */
import type { IncomingMessage, RequestListener } from "node:http";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import type { Event } from "tidings";

const maxBodyBytes = 1_048_576;
/** Older ids are forgotten. Far more than the number of events that are retried at a time. */
const maxRememberedIds = 10_000;

export interface EventHandlers {
  /** Called once for each event. */
  onEvent(event: Event): void;
  /** Called for a repeated event. That is normal: the first response may have been lost. */
  onDuplicate(event: Event): void;
}

export function receiver(secret: string, { onEvent, onDuplicate }: EventHandlers): RequestListener {
  const verifier = new Webhook(secret);
  // In production, store the ids in your database, in the transaction that does the event's work.
  const handledIds = new Set<string>();

  async function statusFor(request: IncomingMessage): Promise<number> {
    const body = await readBody(request);
    if (body === undefined) return 413;
    let event: Event;
    try {
      // The signature covers the raw bytes. Parsed and serialized JSON may differ from them.
      event = verifier.verify(body, request.headers as Record<string, string>) as Event;
    } catch (error) {
      if (error instanceof WebhookVerificationError) return 401;
      throw error;
    }
    if (handledIds.has(event.id)) {
      onDuplicate(event);
      return 204;
    }
    onEvent(event);
    handledIds.add(event.id);
    const [oldest = ""] = handledIds;
    if (handledIds.size > maxRememberedIds) handledIds.delete(oldest);
    return 204;
  }

  return (request, response) => {
    statusFor(request).then(
      (status) => response.writeHead(status).end(),
      // After a 500, the engine sends the event again.
      () => response.writeHead(500).end(),
    );
  };
}

/** Returns undefined if the body is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
