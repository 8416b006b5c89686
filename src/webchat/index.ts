export { forgetVisitor, removeMail } from "./sessions.ts";
export { mailRedaction } from "./mailboxes.ts";
export { authenticateVisitor, type Visitor } from "./authenticate-visitor.ts";
export type {
  ShowTyping,
  Typing,
  WatchTyping,
  WebchatAssignee,
  WebchatSignal,
  WebchatState,
  WebchatTyping,
} from "./signal-types.ts";
export type {
  WebchatOptions,
  OpenWebchatSession,
  StreamedWebchatMessage,
  VisitorHistory,
  VisitorMark,
  VisitorMessage,
  VisitorStream,
  WebchatMessage,
  WebchatMessagePage,
  WebchatSession,
} from "./types.ts";
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
