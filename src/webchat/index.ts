export { forgetVisitor } from "./sessions.ts";
export { authenticateVisitor, type Visitor } from "./visitors.ts";
export type {
  WebchatOptions,
  OpenWebchatSession,
  StreamedWebchatMessage,
  VisitorMark,
  VisitorMessage,
  VisitorStream,
  WebchatMessage,
  WebchatSession,
} from "./types.ts";
export {
  mail,
  mailboxes,
  mailboxName,
  mailByPosition,
  type MailRow,
  webchatSessions,
  webchatSessionsByExpiry,
} from "./rows.ts";
export { webchatTransport } from "./transport.ts";
