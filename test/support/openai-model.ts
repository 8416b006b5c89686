import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { onTestFinished } from "vitest";
import { languageModel } from "tidings/models";
import type { AgentModel } from "../../src/ports/agent-model.ts";

/** A model behind a local server with OpenAI's protocol, which `respond` plays. */
export async function openAiModel(
  respond: (body: unknown, response: ServerResponse) => void,
): Promise<AgentModel> {
  const server = createServer((request, response) => {
    void json(request).then((body) => respond(body, response));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const provider = createOpenAICompatible({
    name: "local",
    baseURL: `http://127.0.0.1:${port}/v1`,
    apiKey: "none",
  });
  return languageModel(provider("small"));
}
