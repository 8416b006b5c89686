import { arm } from "../queue/index.ts";
import { messageResource } from "./resource.ts";
import { messageById, type MessageRow } from "./rows.ts";
import { invalid, iso, mediumOf, millis, notFound, TidingsError } from "../kernel/index.ts";
import { edit } from "./rules.ts";
import { segmentsOf } from "./segments.ts";
import { stateOf } from "./state.ts";
import { type EditMessage, editMessageSchema, type Message } from "./types.ts";
import { judgeMessage, refuseDenied, ruling } from "../consents/index.ts";
import type { Command } from "../operations/index.ts";
import { findAddressee } from "../contacts/index.ts";
import { factsOf } from "./check-queued.ts";
import { moveMessage } from "./move.ts";
import { releaseJob } from "./send-jobs.ts";
import { writeTimeline } from "./write-timeline.ts";

/** Changes a scheduled message, unless a policy denies what it would become. */
export const editMessage: Command<EditMessage, Message> = {
  kind: "command",
  name: "messages.edit",
  input: editMessageSchema,
  status: 200,
  shows: (input) => input.id,
  async run(tx, { id, ...change }, call) {
    const { services } = call;
    const message = await tx.get(messageById, [id]);
    if (message === undefined) throw notFound("message");
    if (message.status !== "scheduled") {
      throw new TidingsError(
        "not_editable",
        `The message is ${message.status}; only a scheduled one can be edited.`,
      );
    }
    const send_at = change.send_at === undefined ? {} : { send_at: millis(change.send_at) };
    const decision = edit(stateOf(message), send_at, tx.now);
    if (decision.decision === "refused") {
      throw new TidingsError("not_editable", `The message is ${decision.status}.`);
    }
    if (decision.decision === "invalid") throw invalid([decision.error]);

    const body = change.body ?? message.body ?? "";
    const media = change.media ?? message.media;
    if (body === "" && media.length === 0) {
      throw invalid([
        { pointer: "/body", code: "custom", message: "must not be empty unless there is media" },
      ]);
    }
    if (message.channel === "sms" && media.length > 0) {
      throw invalid([
        { pointer: "/media", code: "custom", message: "needs channel mms or webchat" },
      ]);
    }
    const addressee = await findAddressee(
      tx,
      services.secret,
      mediumOf(message.channel),
      message.to,
    );
    const opinions = await judgeMessage(tx, call, {
      message: { ...factsOf(message), body, media },
      confirmsOptOut: message.keyword === "opt_out",
      consent: addressee,
      contact_id: addressee.contact_id ?? message.contact_id,
      at: Math.max(tx.now, decision.state.send_at),
    });
    refuseDenied(ruling(opinions));
    const segments = message.channel === "sms" ? segmentsOf(body) : null;
    const patch: Partial<MessageRow> = {
      body,
      media,
      metadata: change.metadata ?? message.metadata,
      segments: segments?.count ?? null,
      encoding: segments?.encoding ?? null,
    };
    const { drawId } = services;
    const edited = await moveMessage(tx, drawId, message, decision.state, patch);
    writeTimeline(tx, drawId, message, edited, {
      type: "edit",
      at: iso(tx.now),
      fields: Object.keys(change),
    });
    await arm(tx, releaseJob(edited, decision.state.send_at));
    return messageResource(edited);
  },
};
