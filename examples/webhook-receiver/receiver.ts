/** A receiver of webhooks: takes what is genuine, and does it once. It knows nothing of the engine but the secret. */
import type { IncomingMessage, RequestListener } from "node:http";
import { Webhook, WebhookVerificationError } from "standardwebhooks";

export interface Event {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly data: unknown;
}

const mostBytes = 1_048_576;
/** More than come again at a time. */
const mostRemembered = 10_000;

export interface Handlers {
  /** Called once for each event. */
  act(event: Event): void;
  /** Called for those that come once more, which is no error: the answer to the first may have been lost. */
  again(event: Event): void;
}

export function receiver(secret: string, { act, again }: Handlers): RequestListener {
  const verifier = new Webhook(secret);
  // A real one keeps them in its database, and writes the id in the transaction that acts.
  const known = new Set<string>();

  async function answer(request: IncomingMessage): Promise<number> {
    const body = await bodyOf(request);
    if (body === undefined) return 413;
    let event: Event;
    try {
      // The signature is over the bytes as they came: parsed and written again they may be others.
      event = verifier.verify(body, request.headers as Record<string, string>) as Event;
    } catch (error) {
      if (error instanceof WebhookVerificationError) return 401;
      throw error;
    }
    if (known.has(event.id)) {
      again(event);
      return 204;
    }
    act(event);
    known.add(event.id);
    const [oldest = ""] = known;
    if (known.size > mostRemembered) known.delete(oldest);
    return 204;
  }

  return (request, response) => {
    answer(request).then(
      (status) => response.writeHead(status).end(),
      // What failed here comes again.
      () => response.writeHead(500).end(),
    );
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
