import type { ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { languageModel } from "tidings/models";
import type { AgentModel } from "../../../src/ports/agent-model.ts";
import { listening } from "../listening.ts";

/** A model behind a local server with OpenAI's protocol, which `respond` plays. */
export async function openAiModel(
  respond: (body: unknown, response: ServerResponse) => void,
): Promise<AgentModel> {
  const port = await listening((request, response) => {
    void json(request).then((body) => respond(body, response));
  });
  const provider = createOpenAICompatible({
    name: "local",
    baseURL: `http://127.0.0.1:${port}/v1`,
    apiKey: "none",
  });
  return languageModel(provider("small"));
}

/** Answers with a completion of the protocol that has one message. */
export function complete(response: ServerResponse, message: object, finish_reason: string): void {
  response.setHeader("content-type", "application/json").end(
    JSON.stringify({
      id: "1",
      object: "chat.completion",
      created: 0,
      model: "small",
      choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason }],
      usage: { prompt_tokens: 210, completion_tokens: 12, total_tokens: 222 },
    }),
  );
}
