/** Chooses the carrier: Twilio if the environment variables name an account, else the sandbox. */
import type { MessagingEngine, Mode, Transport } from "tidings";
import { httpClient } from "tidings/http-client";
import { sandbox } from "tidings/sandbox";
import { twilio } from "tidings/twilio";

export interface Carrier {
  readonly mode: Mode;
  readonly transports: readonly Transport[];
  /** Creates the account's sender. A sandbox account already has one. */
  createSender(engine: MessagingEngine): Promise<void>;
  close(): void;
}

export function chooseCarrier(environment: NodeJS.ProcessEnv): Carrier {
  const {
    TWILIO_ACCOUNT_SID: accountSid,
    TWILIO_AUTH_TOKEN: authToken,
    TWILIO_FROM: address,
    TWILIO_API_URL: apiUrl,
    PUBLIC_URL: publicUrl,
  } = environment;
  if (accountSid === undefined) {
    return {
      mode: "sandbox",
      transports: [sandbox()],
      createSender: async () => {},
      close: () => {},
    };
  }
  if (authToken === undefined || address === undefined) {
    throw new Error(
      "TWILIO_ACCOUNT_SID is set: set TWILIO_AUTH_TOKEN and TWILIO_FROM (a number or a " +
        "messaging service) too.",
    );
  }
  const callbackUrl = publicUrl && `${publicUrl}/v1/transports/twilio/callbacks`;
  const http = httpClient();
  const transport = twilio({
    accountSid,
    authToken,
    http,
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
    ...(apiUrl === undefined ? {} : { apiUrl }),
  });
  return {
    mode: "live",
    transports: [sandbox(), transport],
    async createSender(engine) {
      await engine.senders.create({ address, channels: ["sms", "mms"], transport: transport.name });
    },
    close: () => http.close(),
  };
}
