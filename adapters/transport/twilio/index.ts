export { twilio } from "./twilio.ts";
export type { TwilioOptions } from "./twilio.ts";
