export { webchatModule } from "./descriptor.ts";
export { forgetVisitor } from "./forget-visitor.ts";
export { openWebchatSession } from "./open-session.ts";
export type { WebchatOptions } from "./options.ts";
export {
  mail,
  mailboxes,
  mailboxName,
  type MailRow,
  webchatSessions,
  webchatSessionsByExpiry,
} from "./rows.ts";
export { webchatTransport } from "./transport.ts";
export type { OpenWebchatSession, WebchatMessage, WebchatSession } from "./types.ts";
export { letIn, type Visitor } from "./visitors.ts";
