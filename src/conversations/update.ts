import type { ConversationRow } from "./rows.ts";
import { changeStatus } from "./rules.ts";
import { type Conversation, type UpdateConversation, updateConversationSchema } from "./types.ts";
import { invalid, millis } from "../kernel/index.ts";
import { type Command, showsOutput } from "../operations/index.ts";
import { changeConversation, findOwnConversation, superseded } from "./change.ts";
import { showConversation } from "./show.ts";

/** Opens, snoozes or closes a conversation, and changes what is noted about it. */
export const updateConversation: Command<UpdateConversation, Conversation> = {
  kind: "command",
  name: "conversations.update",
  input: updateConversationSchema,
  status: 200,
  shows: showsOutput,
  async run(
    tx,
    { id, status, snoozed_until, priority, metadata, opt_out_suspected },
    { services },
  ) {
    const conversation = await findOwnConversation(tx, id);
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
    return showConversation(tx, await changeConversation(tx, services.drawId, conversation, patch));
  },
};
