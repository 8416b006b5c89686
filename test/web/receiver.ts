/** A receiver of webhooks. */
import { text } from "node:stream/consumers";
import { listening } from "../support/listening.ts";

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Receiver {
  readonly url: string;
  /** What it received, the oldest first. */
  readonly received: readonly { readonly body: string; readonly headers: Record<string, string> }[];
  /** Sets the answer to all later requests. */
  answer(answer: Answer): void;
}

/** Answers with a 204 at first. */
export async function newReceiver(): Promise<Receiver> {
  const received: { readonly body: string; readonly headers: Record<string, string> }[] = [];
  let answer: Answer = { status: 204 };
  const port = await listening((request, response) => {
    void text(request).then((body) => {
      received.push({ body, headers: request.headers as Record<string, string> });
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  });
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    answer: (next) => void (answer = next),
  };
}
