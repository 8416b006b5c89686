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
  /** Sets the answer to all later requests. A promise holds them until it is settled. */
  answer(answer: Answer | Promise<Answer>): void;
}

/** Answers with a 204 at first. */
export async function newReceiver(): Promise<Receiver> {
  const received: { readonly body: string; readonly headers: Record<string, string> }[] = [];
  let answer: Answer | Promise<Answer> = { status: 204 };
  const port = await listening((request, response) => {
    void text(request).then(async (content) => {
      received.push({ body: content, headers: request.headers as Record<string, string> });
      const { status, headers, body } = await answer;
      response.writeHead(status, headers).end(body);
    });
  });
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    answer: (next) => void (answer = next),
  };
}
