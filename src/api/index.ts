export type { OperatorAccess } from "./authentication.ts";
export { readJson } from "./requests/request-body.ts";
export { apiBackend } from "./backend.ts";
export { RequestHandler } from "./handler.ts";
export {
  type ApiBody,
  type ApiHandler,
  type ApiRequest,
  type ApiResponse,
  type Exchange,
  headerOf,
  type Mountable,
} from "./http.ts";
export {
  hasCurrentBody,
  respondWithShared,
  sharedBody,
  type SharedBody,
  tagOf,
} from "./responses/shared-body.ts";
export { loadDescriptions } from "./openapi/descriptions.ts";
export { openApiDocument } from "./openapi/document.ts";
export { serviceRoutes } from "./service-routes.ts";
export { LiveStreams } from "./streams/live-streams.ts";
