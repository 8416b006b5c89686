import type { ConversationRow } from "../domain/conversations/rows.ts";
import { changeStatus } from "../domain/conversations/rules.ts";
import {
  type Conversation,
  type UpdateConversation,
  updateConversationSchema,
} from "../domain/conversations/types.ts";
import { millis } from "../domain/time.ts";
import { invalid } from "../errors.ts";
import type { Command } from "../operation.ts";
import { actorOf } from "./steps/append-event.ts";
import {
  changeConversation,
  findOwnConversation,
  superseded,
} from "./steps/change-conversation.ts";
import { showConversation } from "./steps/show-conversation.ts";

/** Opens, snoozes or closes a conversation, and changes what is noted about it. */
export const updateConversation: Command<UpdateConversation, Conversation> = {
  kind: "command",
  name: "conversations.update",
  input: updateConversationSchema,
  status: 200,
  async run(
    tx,
    { id, status, snoozed_until, priority, metadata, opt_out_suspected },
    { scope, services },
  ) {
    const conversation = await findOwnConversation(tx, scope, id);
    const until = snoozed_until === undefined ? {} : { snoozed_until: millis(snoozed_until) };
    const change =
      status === undefined ? undefined : changeStatus(conversation, { status, ...until }, tx.now);
    if (change?.decision === "superseded") throw superseded();
    if (change?.decision === "invalid") throw invalid([change.error]);
    const patch: Partial<ConversationRow> = {
      ...change?.patch,
      ...(priority === undefined ? {} : { priority }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(opt_out_suspected === undefined ? {} : { opt_out_suspected: null }),
    };
    return showConversation(
      tx,
      await changeConversation(tx, actorOf(scope, services.drawId), conversation, patch),
    );
  },
};
