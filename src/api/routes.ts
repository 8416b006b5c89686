import { eventSchema } from "../webhooks/event-catalog.ts";
import { observationRoutes } from "../observations/routes.ts";
import { privacyRoutes } from "../privacy/routes.ts";
import type { Limits } from "../kernel/limits.ts";
import { type Tag, openApiDocument } from "./openapi.ts";
import type { Route } from "../operations/api-route.ts";
import { accountRoutes } from "../accounts/account-routes.ts";
import { agentRoutes } from "../agents/routes.ts";
import { apiKeyRoutes } from "../accounts/key-routes.ts";
import { consentRoutes } from "../consents/routes.ts";
import { contactRoutes } from "../contacts/routes.ts";
import { contactSearchRoutes } from "../contacts/search-routes.ts";
import { conversationRoutes } from "../conversations/routes.ts";
import { eventRoutes } from "../events/routes.ts";
import { messageRoutes } from "../messages/routes.ts";
import { playbookRoutes } from "../agents/playbook-routes.ts";
import { sandboxRoutes } from "../sandbox/routes.ts";
import { senderRoutes } from "../senders/routes.ts";
import { sentimentRoutes } from "../sentiment/routes.ts";
import { serviceRoutes } from "./service-routes.ts";
import { webchatRoutes } from "../webchat/routes.ts";
import { webhookRoutes } from "../webhooks/routes.ts";

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
    ...observationRoutes,
    ...sentimentRoutes,
    ...webchatRoutes,
    ...agentRoutes,
    ...playbookRoutes,
    ...eventRoutes(eventSchema),
    ...webhookRoutes,
    ...privacyRoutes,
    ...senderRoutes,
    ...apiKeyRoutes,
    ...accountRoutes,
    ...sandboxRoutes,
    ...serviceRoutes(() => (document ??= openApiDocument(routes, tags, limits))),
  ];
  return routes;
}
