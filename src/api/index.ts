export { type ApiBackend, apiBackend } from "./backend.ts";
export { RequestHandler } from "./handler.ts";
export {
  type ApiBody,
  type ApiHandler,
  type ApiRequest,
  type ApiResponse,
  type Exchange,
  headerOf,
  headersByName,
  type Mountable,
} from "./http.ts";
export { openApiDocument } from "./openapi.ts";
export { serviceRoutes } from "./service-routes.ts";
export { StreamNotifier } from "./stream-notifier.ts";
