import type { HttpClient } from "../../src/ports/http-client.ts";

/** A website on which every address is a picture. */
export const pictures: HttpClient = {
  send: () =>
    Promise.resolve({
      outcome: "answered",
      address: "203.0.113.9",
      status: 200,
      headers: { "content-type": "image/png" },
      body: Buffer.from("89504e470d0a1a0a", "hex"),
      truncated: false,
    }),
  close() {},
};
