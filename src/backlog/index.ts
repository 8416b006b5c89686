export type { Backlog, WaitingWork, WebhookLag, WorkKind } from "./types.ts";
