export { forgetVisitor } from "./sessions/sessions.ts";
export { removeMail, mailRedaction } from "./mailboxes.ts";
export { authenticateVisitor, type Visitor } from "./sessions/authenticate-visitor.ts";
export type {
  ShowTyping,
  Typing,
  WatchTyping,
  WebchatAssignee,
  WebchatSignal,
  WebchatState,
  WebchatTyping,
} from "./streams/signal-types.ts";
export type {
  StreamedWebchatMessage,
  VisitorMark,
  VisitorMessage,
  VisitorStream,
  WebchatMessage,
  WebchatMessagePage,
} from "./types.ts";
export type {
  WebchatOptions,
  OpenWebchatSession,
  WebchatSession,
} from "./sessions/session-types.ts";
export {
  mail,
  mailboxes,
  mailboxName,
  mailByPosition,
  type MailRow,
  webchatSessionById,
  webchatSessions,
  webchatSessionsByExpiry,
} from "./rows.ts";
export { webchatTransport } from "./transport.ts";
