/**
 * A client of the REST API. Its API key alone decides whether messages go to the sandbox or to
 * Twilio.
 */
import type { Message } from "tidings";

export class Client {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, apiKey: string) {
    this.#url = `${url}/v1/messages`;
    this.#headers = { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" };
  }

  async send(message: { readonly to: string; readonly body: string }): Promise<Message> {
    const body = JSON.stringify(message);
    return messageIn(await fetch(this.#url, { method: "POST", headers: this.#headers, body }));
  }

  async get(id: string): Promise<Message> {
    return messageIn(await fetch(`${this.#url}/${id}`, { headers: this.#headers }));
  }
}

async function messageIn(response: Response): Promise<Message> {
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Message;
}
