/** A client of the `/v1` surface. Which carrier is behind it, the key alone decides. */
import type { Message } from "tidings";

export class Client {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, key: string) {
    this.#url = `${url}/v1/messages`;
    this.#headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  }

  async send(message: { readonly to: string; readonly body: string }): Promise<Message> {
    const body = JSON.stringify(message);
    return answered(await fetch(this.#url, { method: "POST", headers: this.#headers, body }));
  }

  async get(id: string): Promise<Message> {
    return answered(await fetch(`${this.#url}/${id}`, { headers: this.#headers }));
  }
}

async function answered(response: Response): Promise<Message> {
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Message;
}
