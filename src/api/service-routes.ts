import { z } from "zod";
import type { Route } from "../operations/index.ts";

const tag = "Service";

/** What a carrier, a monitor and a developer ask for, without an API key. */
export function serviceRoutes(document: () => object): readonly Route[] {
  return [
    {
      tag,
      method: "POST",
      path: "/v1/transports/:name/callbacks",
      operation: { kind: "callback", name: "transports.callback" },
      summary: "Take a carrier's receipts and inbound messages",
      description: "For carriers: the transport verifies their signature over the bytes.",
    },
    {
      tag,
      method: "GET",
      path: "/v1/health",
      operation: {
        kind: "open",
        name: "health.get",
        async answer(backend) {
          await backend.health();
          return '{"status":"ok"}';
        },
      },
      summary: "Tell whether the service works",
      description: "200 when the storage answers, else 503.",
      response: z.object({ status: z.literal("ok") }).meta({ id: "Health" }),
    },
    {
      tag,
      method: "GET",
      path: "/v1/openapi.json",
      operation: {
        kind: "open",
        name: "openapi.get",
        // Where the surface is mounted only a request can tell.
        answer: (_backend, mount) =>
          Promise.resolve(
            JSON.stringify({ ...document(), servers: [{ url: mount === "" ? "/" : mount }] }),
          ),
      },
      summary: "Get this document",
      response: z
        .looseObject({ openapi: z.string() })
        .meta({ id: "OpenApiDocument", description: "OpenAPI 3.1" }),
    },
  ];
}
