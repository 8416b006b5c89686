import { markWebchatMessage } from "./mark-messages.ts";
import { openWebchatSession } from "./open-session.ts";
import { receiveWebchatMessage } from "./receive.ts";
import { webchatMessageSchema, webchatSessionSchema } from "./types.ts";
import { webchatStream } from "./stream.ts";
import type { Route } from "../operations/index.ts";

const tag = "Webchat";
const visitor = { tag, visitor: true } as const;

export const webchatRoutes: readonly Route[] = [
  {
    tag,
    scopes: ["conversations:write"],
    method: "POST",
    path: "/v1/webchat/sessions",
    operation: openWebchatSession,
    summary: "Let a visitor in",
    description:
      "Call it from your server, and hand the id and the token to the visitor's browser: they are all that it needs.",
    response: webchatSessionSchema,
  },
  {
    ...visitor,
    method: "POST",
    path: "/v1/webchat/sessions/:id/messages",
    operation: receiveWebchatMessage,
    summary: "Write as the visitor",
    description: "Up to 20 messages in 10 seconds.",
    response: webchatMessageSchema,
  },
  {
    ...visitor,
    method: "POST",
    path: "/v1/webchat/sessions/:id/marks",
    operation: markWebchatMessage,
    summary: "Tell that a message was delivered or read",
  },
  {
    ...visitor,
    method: "GET",
    path: "/v1/webchat/sessions/:id/stream",
    operation: webchatStream,
    summary: "Follow what the visitor is sent",
    description:
      "Each message once and in order, over reconnections too: data is a `WebchatMessage`, the id its number. What a browser had " +
      "when it comes again counts as delivered. Five at a time for a session's address: one more ends the oldest.",
  },
];
