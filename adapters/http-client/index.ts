export { httpClient } from "./http-client.ts";
export type { HttpClientOptions } from "./http-client.ts";
