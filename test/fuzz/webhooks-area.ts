/** What the receivers of webhooks answer: bytes on a socket, and what the client makes of them. */
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import fc from "fast-check";
import { httpClient } from "../../adapters/http-client/index.ts";
import { destinations } from "../../src/ports/destinations.ts";
import type { HttpOutcome } from "../../src/ports/http-client.ts";
import { allRoutes, requestOf } from "../security/examples.ts";
import { area } from "./area.ts";
import { checkAnswer } from "./document.ts";
import { corrupted, corruption, oddText } from "./json.ts";
import { answerOf, fuzzWorld } from "./world.ts";

const maxBodyBytes = 16_384;

const status = fc.constantFrom(
  "200 OK",
  "204 No",
  "301 Away",
  "410 Gone",
  "429 Slow",
  "503 No",
  "999 X",
  "0 X",
  "",
);
const header = fc.oneof(
  fc.constantFrom(
    "Retry-After: 120",
    "Retry-After: -1",
    "Retry-After: Wed, 21 Oct 2099 07:28:00 GMT",
    "Location: http://169.254.169.254/",
    "Content-Encoding: gzip",
    "Content-Type: text/html; charset=utf-16",
    "Connection: close",
    "Set-Cookie: a=b",
    "__proto__: x",
    "Content-Length: 3",
    "Transfer-Encoding: chunked",
    `X-Long: ${"x".repeat(9_000)}`,
  ),
  fc.tuple(oddText, oddText).map(([name, value]) => `${name}: ${value}`),
);
const body = fc.oneof(
  oddText.map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  fc.nat({ max: 40_000 }).map((size) => Buffer.alloc(size, "y")),
  fc.constant(Buffer.from("3\r\nabc\r\n0\r\n\r\n")),
);
const answer = fc
  .tuple(status, fc.array(header, { maxLength: 4 }), body, fc.option(corruption, { freq: 2 }))
  .map(([first, headers, content, change]) => {
    const length = headers.length % 2 === 0 ? [`Content-Length: ${content.length}`] : [];
    const head = [`HTTP/1.1 ${first}`, ...headers, ...length, "", ""].join("\r\n");
    const bytes = Buffer.concat([Buffer.from(head), content]);
    return change === null ? bytes : corrupted(bytes, change);
  });

/** Sends one request to a server that answers with these bytes and closes the connection. */
async function outcomeOf(bytes: Buffer): Promise<HttpOutcome> {
  const server = createServer((socket) => {
    socket.on("error", () => {}).once("data", () => socket.end(bytes));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = httpClient();
  try {
    return await client.send({
      method: "POST",
      url: `http://127.0.0.1:${port}/`,
      to: destinations({ http: true, allow: ["127.0.0.1"] }),
      headers: {},
      body: Buffer.from("{}"),
      deadline_ms: 20_000,
      max_body_bytes: maxBodyBytes,
    });
  } finally {
    client.close();
    server.close();
  }
}

const route = allRoutes.find(({ operation }) => operation.name === "webhooks.delivery");

export const webhooksArea = area<readonly Buffer[]>({
  name: "webhooks",
  share: 1,
  cases: fc.array(answer, { minLength: 1, maxLength: 4 }),
  async run(answers, sent) {
    const outcomes: HttpOutcome[] = [];
    for (const bytes of answers) {
      sent(bytes);
      const outcome = await outcomeOf(bytes);
      const response = outcome.outcome === "answered" ? outcome : outcome.partial;
      if ((response?.body.length ?? 0) > maxBodyBytes) throw new Error("the body has no bound");
      outcomes.push(outcome);
    }
    let next = 0;
    await using world = await fuzzWorld({
      receivers: () => outcomes[next++ % outcomes.length] as HttpOutcome,
    });
    await world.clock.advance(200_000);
    await world.check();
    if (route === undefined) throw new Error("no route shows a delivery");
    checkAnswer(answerOf(await world.ask(requestOf(route, world.own))), route);
  },
});
