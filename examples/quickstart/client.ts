/** What any HTTP client does: the quickstart talks to itself as others would. */
import type { Message, SendMessage } from "tidings";

export interface Answer {
  readonly message: Message;
  /** Whether the server had answered this request before. */
  readonly replayed: boolean;
}

export class Client {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  async send(input: SendMessage, idempotencyKey: string): Promise<Answer> {
    const response = await fetch(`${this.#url}/v1/messages`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${this.#key}`,
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

  /** The same as a command to paste, in lines that fit a terminal. */
  curl(input: SendMessage): string[] {
    return [
      `curl ${this.#url}/v1/messages -H "Content-Type: application/json" \\`,
      `  -H "Authorization: Bearer ${this.#key}" \\`,
      `  -d '${JSON.stringify(input)}'`,
    ];
  }
}
