export { type ApiBackend, apiBackend } from "./backend.ts";
export { RequestHandler } from "./handler.ts";
export type { ApiBody, ApiHandler, ApiRequest, ApiResponse, Mountable } from "./http.ts";
export { openApiDocument } from "./openapi.ts";
export { serviceRoutes } from "./service-routes.ts";
export { LiveStreams } from "./live-streams.ts";
