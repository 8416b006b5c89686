import { createSender } from "./create.ts";
import { removeSender } from "./remove.ts";
import { updateSender } from "./update.ts";
import { pageSchema } from "../kernel/index.ts";
import { listSenders } from "./reads.ts";
import { senderSchema } from "./types.ts";
import type { Route } from "../operations/index.ts";

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
