import { createSender, removeSender, updateSender } from "./commands.ts";
import { pageSchema } from "../kernel/index.ts";
import { listSenders } from "./reads.ts";
import { senderSchema } from "./types.ts";
import type { ApiRoute } from "../operations/index.ts";

const manage = { tag: "Senders", scopes: ["senders:manage"] } as const;

export const senderRoutes: readonly ApiRoute[] = [
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
