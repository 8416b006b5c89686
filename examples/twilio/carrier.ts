/** Which carrier there is: Twilio, where the environment has an account, else the sandbox. */
import type { MessagingEngine, Mode, Transport } from "tidings";
import { httpClient } from "tidings/http-client";
import { sandbox } from "tidings/sandbox";
import { twilio } from "tidings/twilio";

export interface Carrier {
  readonly mode: Mode;
  readonly transports: readonly Transport[];
  /** Makes the number the account's; the sandbox's accounts have theirs. */
  prepare(engine: MessagingEngine): Promise<void>;
  close(): void;
}

export function carrierOf(environment: NodeJS.ProcessEnv): Carrier {
  const {
    TWILIO_ACCOUNT_SID: accountSid,
    TWILIO_AUTH_TOKEN: authToken,
    TWILIO_FROM: address,
  } = environment;
  if (accountSid === undefined) {
    return { mode: "sandbox", transports: [sandbox()], prepare: async () => {}, close: () => {} };
  }
  if (authToken === undefined || address === undefined) {
    throw new Error(
      "TWILIO_ACCOUNT_SID needs TWILIO_AUTH_TOKEN, and TWILIO_FROM: a number or a messaging service.",
    );
  }
  const { PUBLIC_URL: publicUrl, TWILIO_API_URL: apiUrl } = environment;
  const callbackUrl = publicUrl && `${publicUrl}/v1/transports/twilio/callbacks`;
  const http = httpClient();
  const carrier = twilio({
    accountSid,
    authToken,
    http,
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
    ...(apiUrl === undefined ? {} : { apiUrl }),
  });
  return {
    mode: "live",
    transports: [sandbox(), carrier],
    async prepare(engine) {
      await engine.senders.create({ address, channels: ["sms", "mms"], transport: carrier.name });
    },
    close: () => http.close(),
  };
}
