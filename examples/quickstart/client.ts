/**
 * A plain HTTP client of the REST API. The quickstart sends its messages over HTTP, as other
 * programs would.
 */
import type { Message, SendMessage } from "tidings";

export interface SendResult {
  readonly message: Message;
  /** True if the server repeated the response to an earlier request with the same key. */
  readonly replayed: boolean;
}

export class Client {
  readonly #url: string;
  readonly #apiKey: string;

  constructor(url: string, apiKey: string) {
    this.#url = url;
    this.#apiKey = apiKey;
  }

  async send(input: SendMessage, idempotencyKey: string): Promise<SendResult> {
    const response = await fetch(`${this.#url}/v1/messages`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${this.#apiKey}`,
        "Content-Type": "application/json",
        "Idempotency-Key": idempotencyKey,
      },
      body: JSON.stringify(input),
    });
    if (response.status !== 201) {
      throw new Error(`POST /v1/messages: ${response.status} ${await response.text()}`);
    }
    return {
      message: (await response.json()) as Message,
      replayed: response.headers.get("Idempotent-Replayed") === "true",
    };
  }

  /** Returns the same request as a command to paste, one element per line. */
  curl(input: SendMessage): string[] {
    return [
      `curl ${this.#url}/v1/messages -H "Content-Type: application/json" \\`,
      `  -H "Authorization: Bearer ${this.#apiKey}" \\`,
      `  -d '${JSON.stringify(input)}'`,
    ];
  }
}
