import {
  changeConversation,
  changeStatus,
  findOwnConversation,
  superseded,
} from "../conversations/index.ts";
import { type Reply, replySchema } from "./types.ts";
import { messageResource } from "./resource.ts";
import { channelOf } from "./rules.ts";
import type { Message } from "./types.ts";
import type { Command } from "../operations/index.ts";
import { acceptMessage } from "./accept.ts";
import { chooseSender } from "../senders/index.ts";
import { findCorrespondent } from "./find-correspondent.ts";

/**
 * Sends what a person writes in a conversation, to the address that wrote or was written to last. The person takes the conversation over:
 * from this transaction on nobody else handles it. Who is assigned stays, so that handing it back returns it to its agent.
 */
export const reply: Command<Reply, Message> = {
  kind: "command",
  name: "conversations.reply",
  input: replySchema,
  status: 201,
  shows: ({ id }, message) => message?.id ?? id,
  storesKey: true,
  async run(tx, { id, body, media, author_id }, call) {
    const { services } = call;
    const found = await findOwnConversation(tx, id);
    const opens =
      found.status === "closed" ? changeStatus(found, { status: "open" }, tx.now) : undefined;
    if (opens?.decision === "superseded") throw superseded();
    const opened = opens?.decision === "change" ? opens.patch : {};
    const { drawId } = services;
    const conversation = await changeConversation(tx, drawId, found, {
      ...opened,
      handler: "human",
    });

    const draft = { body, ...(media === undefined ? {} : { media }) };
    const channel = found.medium === "webchat" ? "webchat" : channelOf(draft);
    const identity = await findCorrespondent(tx, conversation);
    const wish = { channel, from: undefined, last: identity.last_sender_id, to: identity.address };
    const sender = await chooseSender(tx, wish, services.transports);
    const author = {
      type: "human" as const,
      ...(author_id === undefined ? {} : { id: author_id }),
    };
    const correspondence = { channel, identity, sender, conversation, isNew: false, author };
    return messageResource(await acceptMessage(tx, call, draft, correspondence));
  },
};
