import { z } from "zod";
import { identityByAddress } from "../domain/contacts/rows.ts";
import type { SandboxSeedResult } from "../domain/sandbox/types.ts";
import { senderByAddress } from "../domain/senders/rows.ts";
import type { Command } from "../operation.ts";
import { sandboxAddress } from "./steps/open-account.ts";
import { takeInMessage } from "./steps/take-in-message.ts";
import { actorOf } from "./steps/append-event.ts";
import { refuseLive } from "./steps/refuse-live.ts";

/** People who have written already, so that lists and threads have something to show. */
const people = [
  { phone: "+15005550101", says: ["Hi, are you open on Saturday?", "And do you take cards?"] },
  { phone: "+15005550102", says: ["My order hasn't arrived yet. Where is it?"] },
  { phone: "+15005550103", says: ["Thanks, that was quick! 🎉"] },
] as const;

const nothing = z.strictObject({});

/** Fills the sandbox with inbound threads. Done twice, it adds nothing. */
export const seedSandbox: Command<Record<string, never>, SandboxSeedResult> = {
  kind: "command",
  name: "sandbox.seed",
  input: () => nothing,
  status: 201,
  async run(tx, _input, { scope, services }) {
    refuseLive(scope);
    const { account_id, mode } = scope;
    const made = { contacts: 0, conversations: 0, messages: 0 };
    const sender = await tx.get(senderByAddress, [account_id, mode, sandboxAddress]);
    if (sender === undefined) return made;
    for (const { phone: from, says } of people) {
      if ((await tx.get(identityByAddress, [account_id, mode, "text", from])) !== undefined) continue;
      for (const [i, body] of says.entries()) {
        const provider_message_id = `seed ${from} ${i}`;
        const inbound = {
          provider_message_id,
          channel: "sms",
          from,
          to: sender.address,
          body,
          media: [],
          at: tx.now,
        } as const;
        await takeInMessage(tx, actorOf(scope, services.drawId), sender, inbound);
        made.messages++;
      }
      made.contacts++;
      made.conversations++;
    }
    return made;
  },
};
