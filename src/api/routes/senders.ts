import { createSender } from "../../commands/create-sender.ts";
import { removeSender } from "../../commands/remove-sender.ts";
import { updateSender } from "../../commands/update-sender.ts";
import { pageSchema } from "../../fields.ts";
import { listSenders } from "../../domain/senders/reads.ts";
import { senderSchema } from "../../domain/senders/types.ts";
import type { Route } from "../route.ts";

const manage = { tag: "Senders", scopes: ["senders:manage"] } as const;

export const senderRoutes: readonly Route[] = [
  {
    ...manage,
    method: "POST",
    path: "/v1/senders",
    operation: createSender,
    summary: "Add a sender",
    response: senderSchema,
  },
  {
    ...manage,
    method: "GET",
    path: "/v1/senders",
    operation: listSenders,
    summary: "List senders",
    response: pageSchema(senderSchema).meta({ id: "SenderPage" }),
  },
  {
    ...manage,
    method: "PATCH",
    path: "/v1/senders/:id",
    operation: updateSender,
    summary: "Edit a sender",
    response: senderSchema,
  },
  {
    ...manage,
    method: "DELETE",
    path: "/v1/senders/:id",
    operation: removeSender,
    summary: "Remove a sender",
  },
];
