export type { ApiBackend } from "./backend.ts";
export { Callbacks } from "./callbacks.ts";
export { apiHandler } from "./handler.ts";
export type { ApiBody, ApiHandler, ApiRequest, ApiResponse, Mountable } from "./http.ts";
export { openApiDocument } from "./openapi.ts";
export { serviceRoutes } from "./service-routes.ts";
export { StreamNotifier } from "./stream-notifier.ts";
