/** What all processes of a test run share, and what is made when the first of them asks. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Answers at a URL with the text that `make` resolves to. It is called once. */
export async function onDemand(
  make: () => Promise<string>,
): Promise<{ readonly url: string; close(): void }> {
  let made: Promise<string> | undefined;
  const server = createServer((_, response) => {
    made ??= make();
    void made.then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(503).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() };
}

/** The text at such a URL. */
export async function askFor(url: string): Promise<string> {
  const response = await fetch(url);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}
