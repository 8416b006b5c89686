export { telnyx } from "./telnyx.ts";
export type { TelnyxOptions } from "./telnyx.ts";
