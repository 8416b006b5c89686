import { type Channel, invalid, type Mode } from "../kernel/index.ts";
import type { Transport } from "../ports/index.ts";

/** @throws TidingsError `validation_failed` when the transport is not there, or can't do what is asked of it */
export function refuseUnfit(
  transports: readonly Transport[],
  name: string,
  mode: Mode,
  channels: readonly Channel[],
): void {
  const transport = transports.find((each) => each.name === name);
  if (transport === undefined || !transport.capabilities.modes.includes(mode)) {
    const message = `No transport ${name} is set up for ${mode}.`;
    throw invalid([{ pointer: "/transport", code: "unknown_transport", message }]);
  }
  const beyond = channels.filter((channel) => !transport.capabilities.channels.includes(channel));
  if (beyond.length > 0) {
    const message = `${name} does not carry ${beyond.join(", ")}.`;
    throw invalid([{ pointer: "/channels", code: "unsupported_channel", message }]);
  }
}
