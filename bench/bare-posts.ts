import { Agent, request } from "node:http";
import { concurrently } from "./measure.ts";

/** The least that a sender could do: posts one body, so many at a time over kept connections, and reads each answer to its end. */
export async function barePosts(url: string, body: string, times: number, atOnce: number): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const bytes = Buffer.from(body);
  const headers = {
    "content-type": "application/json",
    "content-length": bytes.length,
    "webhook-id": "evt_bare",
    "webhook-timestamp": "1767225600",
    "webhook-signature": `v1,${Buffer.alloc(32).toString("base64")}`,
  };
  const post = (): Promise<void> =>
    new Promise((resolve, reject) => {
      request(url, { method: "POST", agent, headers }, (answer) => answer.resume().once("end", resolve))
        .once("error", reject)
        .end(bytes);
    });
  await concurrently(times, atOnce, post);
  agent.destroy();
}
