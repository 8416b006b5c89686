import { z } from "zod";
import type { ApiRoute } from "../operations/index.ts";

const tag = "Service";

/** Routes that need no API key. */
export function serviceRoutes(document: () => object): readonly ApiRoute[] {
  return [
    {
      tag,
      method: "POST",
      path: "/v1/transports/:name/callbacks",
      operation: { kind: "callback", name: "transports.callback" },
      summary: "Receive a carrier's receipts and inbound messages",
      description:
        "Called by carriers. The transport verifies the signature over the body's bytes.",
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
      summary: "Check the service's health",
      description: "Returns 200 when the storage responds, otherwise 503.",
      response: z.object({ status: z.literal("ok") }).meta({ id: "Health" }),
    },
    {
      tag,
      method: "GET",
      path: "/v1/openapi.json",
      operation: {
        kind: "open",
        name: "openapi.get",
        // The mount point is known only from a request.
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
