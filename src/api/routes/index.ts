import type { Limits } from "../../options.ts";
import { type Tag, openApiDocument } from "../openapi.ts";
import type { Route } from "../route.ts";
import { accountRoutes } from "./account.ts";
import { agentRoutes } from "./agents.ts";
import { apiKeyRoutes } from "./api-keys.ts";
import { consentRoutes } from "./consents.ts";
import { contactRoutes } from "./contacts.ts";
import { contactSearchRoutes } from "./contact-search.ts";
import { conversationRoutes } from "./conversations.ts";
import { eventRoutes } from "./events.ts";
import { messageRoutes } from "./messages.ts";
import { playbookRoutes } from "./playbooks.ts";
import { sandboxRoutes } from "./sandbox.ts";
import { senderRoutes } from "./senders.ts";
import { sentimentRoutes } from "./sentiment.ts";
import { serviceRoutes } from "./service.ts";
import { webchatRoutes } from "./webchat.ts";
import { webhookRoutes } from "./webhooks.ts";

const tags: readonly Tag[] = [
  { name: "Messages", description: "Send, schedule, follow and take back messages." },
  { name: "Contacts", description: "The people at the other end." },
  {
    name: "Conversations",
    description: "One inbox over all channels: threads, replies, notes, who handles what.",
  },
  {
    name: "Webchat",
    description:
      "Visitors of your pages: sessions for their browsers, and what browsers do with them.",
  },
  { name: "Agents", description: "Who answers by itself, when it lets go, and what it did." },
  { name: "Playbooks", description: "Scripts that agents follow, step by step." },
  { name: "Events", description: "What happened, as a list and as a stream." },
  {
    name: "Webhooks",
    description: "Endpoints of yours that are told of events, and every try to tell them.",
  },
  { name: "Senders", description: "The numbers and inboxes that messages come from." },
  { name: "API keys", description: "Who may do what, in which mode." },
  { name: "Account", description: "The account that the key belongs to." },
  { name: "Sandbox", description: "A test bench: for sandbox keys only." },
  { name: "Service", description: "What needs no API key." },
];

/** All of `/v1`. The document is made once, when it is first asked for. */
export function apiRoutes(limits: Limits): readonly Route[] {
  let document: object | undefined;
  const routes: readonly Route[] = [
    ...messageRoutes,
    ...contactRoutes,
    ...contactSearchRoutes,
    ...consentRoutes,
    ...conversationRoutes,
    ...sentimentRoutes,
    ...webchatRoutes,
    ...agentRoutes,
    ...playbookRoutes,
    ...eventRoutes,
    ...webhookRoutes,
    ...senderRoutes,
    ...apiKeyRoutes,
    ...accountRoutes,
    ...sandboxRoutes,
    ...serviceRoutes(() => (document ??= openApiDocument(routes, tags, limits))),
  ];
  return routes;
}
