import * as z from "zod";
import { healthSchema, type ApiRoute } from "../operations/index.ts";

/** The process responds. */
export interface Liveness {
  /** Always `ok`. */
  readonly status: "ok";
}

const livenessSchema = z.object({ status: z.literal("ok") }).meta({ id: "Liveness" });

const openApiDocumentSchema = z
  .looseObject({ openapi: z.string() })
  .meta({ id: "OpenApiDocument" });

const tag = "Service";

/**
 * Routes that need no API key. `document` returns the OpenAPI document as JSON, without `servers`.
 */
export function serviceRoutes(document: () => Promise<string>): readonly ApiRoute[] {
  return [
    {
      tag,
      method: "POST",
      path: "/v1/transports/:name/callbacks",
      operation: { kind: "callback", name: "transports.callback" },
      summary: "Receive a carrier's receipts and inbound messages",
      description:
        "Called by carriers. The transport verifies the signature over the body's bytes. A " +
        "request with a wrong signature gets 403 `invalid_signature`.",
    },
    {
      tag,
      method: "GET",
      path: "/v1/health",
      operation: {
        kind: "public",
        name: "health.get",
        mayBeUnavailable: true,
        async answer(health) {
          const found = await health();
          return { status: found.status === "ok" ? 200 : 503, body: JSON.stringify(found) };
        },
      },
      summary: "Check whether the service is ready",
      description:
        "Returns 200 when the engine can commit commands, otherwise 503 with the reasons. The " +
        "outcome of the last commit decides. If it is older than a second, the engine writes a " +
        "row and waits up to 2 seconds. For load balancers and readiness probes.",
      response: healthSchema,
    },
    {
      tag,
      method: "GET",
      path: "/v1/health/live",
      operation: {
        kind: "public",
        name: "health.live",
        answer: () => Promise.resolve({ status: 200, body: '{"status":"ok"}' }),
      },
      summary: "Check whether the service is alive",
      description:
        "Returns 200 whenever the process responds, even when its storage fails. For liveness " +
        "probes: a restart does not repair a storage.",
      response: livenessSchema,
    },
    {
      tag,
      method: "GET",
      path: "/v1/openapi.json",
      operation: {
        kind: "document",
        name: "openapi.get",
        json: async (mount) => {
          const servers = [{ url: mount === "" ? "/" : mount }];
          return `${(await document()).slice(0, -1)},"servers":${JSON.stringify(servers)}}`;
        },
      },
      summary: "Get this document",
      response: openApiDocumentSchema,
    },
  ];
}
