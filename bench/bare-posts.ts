import { Agent, request } from "node:http";
import { signatureHeaders, signingKey } from "../src/webhooks/signature.ts";
import { concurrently } from "./measure.ts";

export interface BarePosts {
  readonly times: number;
  readonly atOnce: number;
  /** With a signature of its own each, which whoever sends webhooks can't do without; else all with the same. */
  readonly signed: boolean;
}

const keys = [signingKey(Buffer.alloc(32).toString("base64"))];

/** The least that a sender could do: posts one body, so many at a time over kept connections, and reads each answer to its end. */
export async function barePosts(
  url: string,
  body: string,
  { times, atOnce, signed }: BarePosts,
): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const bytes = Buffer.from(body);
  const headers = {
    "content-type": "application/json",
    "content-length": bytes.length,
    ...signatureHeaders({ id: "evt_bare", at: Date.now(), body: bytes }, keys),
  };
  const own = (): typeof headers => ({
    ...headers,
    ...signatureHeaders({ id: "evt_bare", at: Date.now(), body: bytes }, keys),
  });
  const post = (): Promise<void> =>
    new Promise((resolve, reject) => {
      request(url, { method: "POST", agent, headers: signed ? own() : headers }, (answer) =>
        answer.resume().once("end", resolve),
      )
        .once("error", reject)
        .end(bytes);
    });
  await concurrently(times, atOnce, post);
  agent.destroy();
}
