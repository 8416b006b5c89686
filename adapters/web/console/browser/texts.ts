import { defineTexts, messageTexts } from "../../shared/browser/index.ts";
import { accessTexts } from "./access/texts.ts";
import { agentTexts } from "./agents/texts.ts";
import { eventTexts } from "./events/texts.ts";
import { messagePageTexts } from "./messages/texts.ts";
import { overviewTexts } from "./overview/texts.ts";
import { phoneTexts } from "./phones/texts.ts";
import { referenceTexts } from "./reference/texts.ts";
import { webhookTexts } from "./webhooks/texts.ts";

/**
 * The texts of the console. The host application can override each by its key. The texts of one
 * page are in its folder. Here are those that several pages share.
 */
export const t = defineTexts({
  ...messageTexts,

  title: "Console",
  documentTitle: "{page} · Console",
  modeSandbox: "Sandbox",
  modeSandboxHint: "No message reaches a real phone",
  modeLive: "Live",
  modeLiveHint: "Messages reach real phones",
  pages: "Pages",
  skipToMain: "Skip to the content",
  keyFilter: "Search or filter",
  goTo: "Go to {page}",
  shortcuts: "Keyboard shortcuts",
  streamLive: "Live: events arrive as they happen",
  streamConnecting: "Connecting …",
  streamLost: "Live updates are interrupted",
  noSuchPage: "There is no such page",
  noSuchPageHint: "The address may be misspelled, or come from another version of the console.",
  noSuchPageLeave: "Go to the first page",
  missingScope: "You have no access to this page",
  missingScopeHint: "Your session lacks: {scopes}. The server's authorize function grants it.",

  any: "Any",
  cancel: "Cancel",
  send: "Send",
  reload: "Reload",
  loadMore: "Load more",
  many: "{count}+",
  filters: "Filters",
  filtersClear: "Clear filters",
  codeCut: "… cut after {count} characters",
  copyNamed: "Copy: {name}",
  secretDone: "I have stored it",
  secretOnce: "This is the only time that the secret is shown. Store it in a safe place now.",
  secretGone: "The secret was shown before and cannot be shown again. Rotate it to get a new one.",
  secretCopy: "Copy the secret",

  requests: "Requests",
  requestsHint:
    "The latest requests of this page to /v1. Copy one as a curl command, and put an API key " +
    "into TIDINGS_KEY. Change the address if your API is mounted elsewhere.",
  requestsEmpty: "No requests yet",
  curlLabel: "curl command of {method} {path}",

  statusAmbiguous: "Ambiguous",
  statusUnconfirmed: "Unconfirmed",
  statusUndelivered: "Undelivered",
  redacted: "Content removed",
  authorAgent: "agent",

  address: "Address",
  channels: "Channels",
  inbound: "Inbound",
  outbound: "Outbound",
  requestBody: "Request body",
  response: "Response",
  columnChannel: "Channel",
  columnContact: "Contact",
  columnCreated: "Created",
  columnName: "Name",
  columnNext: "Next attempt",
  columnStatus: "Status",
  fields: "Fields",
  fieldContact: "Contact",
  fieldConversation: "Conversation",
  fieldId: "Id",
  fieldTransport: "Transport",
  filterType: "Type",

  add: "Add",
  edit: "Edit",
  save: "Save",
  delete: "Delete",
  enable: "Enable",
  pause: "Pause",
  enabled: "Enabled",
  disabled: "Disabled",
  paused: "Paused",
  settings: "Settings",
  description: "Description",
  since: "Since",
  until: "until {time}",
  more: "+{count}",
  moreActions: "More actions",
  rotate: "Rotate",
  rotateTitle: "Rotate the secret",
  rotateHint: "A new secret is made and shown once. The old one stays valid for a while.",
  rotateGrace: "The old secret stays valid",
  graceNone: "Not at all",
  graceHour: "For an hour",
  graceDay: "For a day",
  graceWeek: "For a week",

  ...overviewTexts,
  ...messagePageTexts,
  ...eventTexts,
  ...phoneTexts,
  ...agentTexts,
  ...webhookTexts,
  ...accessTexts,
  ...referenceTexts,
});
