import { channelOf, type Message, messageResource, takeInMessage } from "../messages/index.ts";
import { type SandboxInbound, sandboxInboundSchema } from "./types.ts";
import { sandboxAddress, senderByAddress } from "../senders/index.ts";
import { invalid } from "../kernel/index.ts";
import { type Command, showsOutput } from "../operations/index.ts";
import { refuseLive } from "./refuse-live.ts";

/** A message from a phone that there isn't. */
export const receiveSandboxMessage: Command<SandboxInbound, Message> = {
  kind: "command",
  name: "sandbox.inbound",
  input: sandboxInboundSchema,
  status: 201,
  shows: showsOutput,
  async run(
    tx,
    { from, to = sandboxAddress, body, media = [], provider_message_id },
    { scope, services },
  ) {
    refuseLive(scope);
    const sender = await tx.get(senderByAddress, [to]);
    if (sender === undefined) {
      throw invalid([
        {
          pointer: "/to",
          code: "unknown_sender",
          message: `${to} is not a sender of this account.`,
        },
      ]);
    }
    const inbound = {
      provider_message_id: provider_message_id ?? services.drawId("sim"),
      channel: channelOf({ media }),
      from,
      to,
      body,
      media,
      at: tx.now,
    };
    return messageResource(await takeInMessage(tx, services, sender, inbound));
  },
};
